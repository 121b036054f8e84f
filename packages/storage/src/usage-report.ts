import type { StreamId, StreamPartId } from '@runnel/protocol'
import type { QuotaStatus } from './disk-quota.ts'
import { ownerOf, streamOf, type OwnerLists } from './share-out.ts'
import type { StreamPartUsage } from './store/message-store.ts'

/** What a storage node has of one stream. */
interface StreamUsage {
  readonly streamId: StreamId
  /** Partitions kept; what is stored of others was kept once. */
  readonly keptParts: number
  readonly messages: number
  readonly bytes: number
  /** Publishers' time of the oldest and newest message; null when there is none. */
  readonly oldestMs: number | null
  readonly newestMs: number | null
}

interface OwnerUsage {
  readonly owner: string
  readonly keptParts: number
  readonly messages: number
  readonly bytes: number
  /** Of all that is stored, 0 to 1. */
  readonly share: number
  /** Largest first. */
  readonly streams: readonly StreamUsage[]
}

/** How much of a storage node each owner uses, and its caps. Plain data, the answer of `/v1/storage/usage`. */
export interface UsageReport {
  /** Heaviest first. */
  readonly owners: readonly OwnerUsage[]
  readonly bytes: number
  readonly keptParts: number
  readonly limits: QuotaStatus & { readonly maxStreamParts: number }
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

export function usageReport({
  usage,
  kept,
  caps,
  lists,
}: {
  readonly usage: readonly StreamPartUsage[]
  readonly kept: readonly StreamPartId[]
  readonly caps: UsageReport['limits']
  readonly lists: OwnerLists
}): UsageReport {
  const parts = new Map(usage.map((one) => [one.streamPartId, one]))
  const isKept = new Set(kept)
  const ids = [...new Set([...kept, ...parts.keys()])]
  const streams = [...Map.groupBy(ids, streamOf)].map(([streamId, of]): StreamUsage => {
    const stored = of.flatMap((id) => parts.get(id) ?? [])
    return {
      streamId,
      keptParts: of.filter((id) => isKept.has(id)).length,
      messages: sum(stored, 'messages'),
      bytes: sum(stored, 'bytes'),
      oldestMs: stored.length === 0 ? null : Math.min(...stored.map(({ oldestMs }) => oldestMs)),
      newestMs: stored.length === 0 ? null : Math.max(...stored.map(({ newestMs }) => newestMs)),
    }
  })
  const bytes = sum(usage, 'bytes')
  const owners = [...Map.groupBy(streams, ({ streamId }) => ownerOf(streamId))].map(
    ([owner, of]): OwnerUsage => ({
      owner,
      keptParts: sum(of, 'keptParts'),
      messages: sum(of, 'messages'),
      bytes: sum(of, 'bytes'),
      share: bytes === 0 ? 0 : sum(of, 'bytes') / bytes,
      streams: of.toSorted((a, b) => b.bytes - a.bytes),
    }),
  )
  return {
    owners: owners.sort((a, b) => b.bytes - a.bytes || b.keptParts - a.keptParts),
    ...{ bytes, keptParts: kept.length, limits: caps },
    ...{ allow: lists.allow, deny: lists.deny },
  }
}

function sum<K extends string>(items: readonly Readonly<Record<K, number>>[], key: K): number {
  return items.reduce((total, item) => total + item[key], 0)
}
