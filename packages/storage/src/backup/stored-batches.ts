import { decodeBatch, parseStreamPartId, type MessageBatch, type StreamId } from '@runnel/protocol'
import type { ReadableStore } from '../store/sqlite/sqlite-file.ts'

/** A batch with the bytes of the delegation that it names, as a store or an export has them: nothing of it is checked. */
export interface StoredBatch {
  readonly batch: MessageBatch
  readonly delegation: Uint8Array | undefined
}

/** What to take of a store; default: everything. Both times belong to it, publisher's time in Unix milliseconds. */
export interface Extract {
  readonly streamIds?: readonly StreamId[] | undefined
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

/** Bytes of batches read at once. */
const pageBytes = 1024 * 1024
const endOfTime = 2 ** 48 - 1

/** One stream part after the other, of each its batches in order of time; with key parts. Throws what a store throws. */
export async function* storedBatches(
  store: Pick<ReadableStore, 'usage' | 'read' | 'delegationsOf'>,
  { streamIds, fromMs = 0, toMs = endOfTime }: Extract = {},
): AsyncGenerator<StoredBatch> {
  for (const { streamPartId } of await store.usage()) {
    if (streamIds !== undefined && !streamIds.includes(parseStreamPartId(streamPartId).streamId)) continue
    const range = {
      streamPartId,
      from: { timestamp: fromMs, sequenceNumber: 0 },
      to: { timestamp: toMs, sequenceNumber: 0xffff_ffff },
    }
    let after: string | undefined
    do {
      const page = await store.read(range, { maxBytes: pageBytes, ...(after === undefined ? {} : { after }) })
      const batches = page.batches.map(decodeBatch)
      const delegations = await store.delegationsOf(batches)
      for (const batch of batches) {
        const { delegationRef: ref } = batch
        yield { batch, delegation: ref && delegations.get(ref) }
      }
      after = page.next
    } while (after !== undefined)
  }
}
