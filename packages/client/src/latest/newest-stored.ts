import {
  isRunnelError,
  keyTagText,
  toHex,
  type MessageBatch,
  type NodeId,
  type StreamMessage,
} from '@runnel/protocol'
import { asError, clientError } from '../errors.ts'
import type { BatchCheck } from '../resend/batch-check.ts'
import type { PartPlan } from '../resend/part-sources.ts'
import type { StatusHub } from '../status.ts'
import type { LatestLimits } from './limits.ts'
import { compareNewness } from './newest.ts'
import { readTable, type ReadTableModules, type TableRequest } from './read-table.ts'

export interface NewestStoredModules extends ReadTableModules {
  readonly check: BatchCheck
  readonly status: StatusHub
}

/** A batch, and the storage nodes that have it. */
interface Held {
  readonly batch: MessageBatch
  readonly holders: Set<NodeId>
}

/**
 * The newest message of each key of a stream part, or of one key, that any of up to three storage nodes has, checked; in the order of their
 * times. Rejects with RESEND_FAILED, RESEND_DENIED or TABLE_TOO_LARGE when none answers that can be read, ABORTED, or what the registry throws.
 */
export async function newestStored(
  request: TableRequest,
  { storageNodes }: PartPlan,
  limits: LatestLimits,
  modules: NewestStoredModules,
  signal: AbortSignal,
): Promise<readonly StreamMessage[]> {
  const waiting = [...storageNodes]
  const held = new Map<string, Held>()
  const errors: unknown[] = []
  let read = 0
  const readOne = async (): Promise<void> => {
    for (let peer = waiting.shift(); peer !== undefined; peer = waiting.shift()) {
      try {
        const batches = await readTable(request, peer, limits, modules, signal)
        for (const batch of batches) hold(held, batch, peer.nodeId)
        read++
        return
      } catch (error) {
        if (!isRunnelError(error) || error.code === 'ABORTED') throw error
        errors.push(error)
        const { streamPartId } = request
        modules.status.emit({
          type: 'storage-failed',
          streamPartId,
          storageNodeId: peer.nodeId,
          error: asError(error),
        })
      }
    }
  }
  await Promise.all(Array.from({ length: modules.limits.maxSourcesPerPart }, readOne))
  if (read === 0) throw failure(request, errors)
  return goodOnes(request, held, read, modules)
}

function hold(held: Map<string, Held>, batch: MessageBatch, nodeId: NodeId): void {
  const key = toHex(batch.signature)
  const known = held.get(key)
  if (known === undefined) held.set(key, { batch, holders: new Set([nodeId]) })
  else known.holders.add(nodeId)
}

async function goodOnes(
  { tag }: TableRequest,
  held: ReadonlyMap<string, Held>,
  read: number,
  { check }: NewestStoredModules,
): Promise<readonly StreamMessage[]> {
  const wanted = tag && toHex(tag)
  const candidates = [...held.values()].flatMap((from) =>
    from.batch.messages.map((message) => ({ message, from, tag: keyTagText(message) })),
  )
  const byTag = Map.groupBy(
    candidates.filter((one) => one.tag !== '' && (wanted === undefined || one.tag === wanted)),
    (one) => one.tag,
  )
  const verdicts = new Map<Held, boolean>()
  const isGood = async (from: Held): Promise<boolean> => {
    const verdict = await check.check(from.batch)
    // As of other history, what its publisher may not publish any more counts when most have it.
    return verdict === 'good' || (verdict === 'doubtful' && from.holders.size * 2 > read)
  }
  const good: StreamMessage[] = []
  for (const ofKey of byTag.values()) {
    for (const { message, from } of ofKey.toSorted((a, b) => compareNewness(b.message, a.message))) {
      const verdict = verdicts.get(from) ?? (await isGood(from))
      verdicts.set(from, verdict)
      if (!verdict) continue
      good.push(message)
      break
    }
  }
  return good.sort(compareNewness)
}

function failure({ streamPartId }: TableRequest, errors: readonly unknown[]): Error {
  const tooLarge = errors.find((error) => isRunnelError(error, 'TABLE_TOO_LARGE'))
  if (tooLarge !== undefined) return asError(tooLarge)
  const isDenied = errors.length > 0 && errors.every((error) => isRunnelError(error, 'RESEND_DENIED'))
  const reasons = errors.map((error) => asError(error).message).join('; ')
  const code = isDenied ? 'RESEND_DENIED' : 'RESEND_FAILED'
  return clientError(code, `${streamPartId}: ${reasons}`, { cause: errors[0] })
}
