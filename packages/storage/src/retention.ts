import { oldestOfStreamMs, type StreamInfo } from '@runnel/client'
import { isKeyPart, type StreamId, type StreamPartId } from '@runnel/protocol'
import { z } from 'zod'
import type { MessageStore } from './store/message-store.ts'

/** How much of a stream part is kept. */
interface Retention {
  /** Days by the publishers' time. */
  readonly maxAgeDays?: number | undefined
  /** Bytes of each stream part; the oldest go first. */
  readonly maxBytes?: number | undefined
}

/** What is kept of the stream that there is now. */
export interface StreamRetention extends Retention {
  /** What is older belongs to an earlier stream of the same id. */
  readonly notBeforeMs: number
}

export interface RetentionOptions extends Retention {
  /** Instead of the above, by stream id. */
  readonly streams: Readonly<Record<string, Retention>>
}

const msPerDay = 24 * 3_600_000
/** A cursor replaced by a later one is kept this long: its publisher may be asking whether it is stored. */
const replacedKeptMs = 60_000

/** What a stream's metadata may say: anybody's text until checked. */
const metadataSchema = z.object({
  storage: z.object({
    maxAgeDays: z.number().positive().optional(),
    maxBytes: z.number().positive().optional(),
  }),
})

/** What whoever may edit the stream wants kept. */
function wishedRetention({ metadata }: Pick<StreamInfo, 'metadata'>): Retention {
  try {
    return metadataSchema.parse(JSON.parse(metadata)).storage
  } catch {
    return {}
  }
}

/** What is kept of a stream's messages: what the node's operator allows, no more than its own metadata wants, and nothing of one that was deleted. */
export function retentionOf(
  streamId: StreamId,
  options: RetentionOptions,
  stream: Pick<StreamInfo, 'metadata' | 'createdMs'> | undefined,
): StreamRetention {
  const allowed = options.streams[streamId] ?? options
  const wished = stream === undefined ? {} : wishedRetention(stream)
  return {
    maxAgeDays: smaller(allowed.maxAgeDays, wished.maxAgeDays),
    maxBytes: smaller(allowed.maxBytes, wished.maxBytes),
    notBeforeMs: stream === undefined ? 0 : oldestOfStreamMs(stream),
  }
}

/** What is kept of a stream's keys: all, as a reader may need a key as long as there is a message. */
export function retentionOfKeys(stream: Pick<StreamInfo, 'createdMs'> | undefined): StreamRetention {
  return { notBeforeMs: stream === undefined ? 0 : oldestOfStreamMs(stream) }
}

/** The oldest time for which messages are kept. */
export function oldestKeptMs({ maxAgeDays, notBeforeMs }: StreamRetention, nowMs: number): number {
  return maxAgeDays === undefined
    ? notBeforeMs
    : Math.max(notBeforeMs, Math.floor(nowMs - maxAgeDays * msPerDay))
}

export interface PruneModules {
  readonly store: Pick<MessageStore, 'usage' | 'prune'>
  readonly retentionOf: (streamPartId: StreamPartId) => Promise<StreamRetention>
  readonly nowMs: () => number
  /** How many newest messages of keys stay of a stream part, however old they are. */
  readonly maxValuesOf: (streamPartId: StreamPartId) => number
}

/** Deletes what is beyond the retention, a stream part after the other. Gives what went. Throws what the store throws. */
export async function pruneAll(
  { store, retentionOf, nowMs, maxValuesOf }: PruneModules,
  signal: AbortSignal,
): Promise<{ batches: number; bytes: number }> {
  const pruned = { batches: 0, bytes: 0 }
  for (const { streamPartId } of await store.usage()) {
    if (signal.aborted) break
    const retention = await retentionOf(streamPartId)
    const olderThanMs = oldestKeptMs(retention, nowMs()) || undefined
    const { maxBytes, notBeforeMs: fromMs } = retention
    const replacedBeforeMs = isKeyPart(streamPartId) ? nowMs() - replacedKeptMs : undefined
    if (olderThanMs === undefined && maxBytes === undefined && replacedBeforeMs === undefined) continue
    const values = { fromMs, maxKeys: maxValuesOf(streamPartId) }
    const { batches, bytes } = await store.prune(streamPartId, {
      ...{ olderThanMs, maxBytes, values, replacedBeforeMs },
    })
    pruned.batches += batches
    pruned.bytes += bytes
  }
  return pruned
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}
