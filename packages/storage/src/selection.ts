import {
  compareRefs,
  type MessageRef,
  type NodeId,
  type ResendSelection,
  type StreamPartId,
} from '@runnel/protocol'
import { storageError } from './errors.ts'
import type { MessageStore, StoredRange } from './store/message-store.ts'

/** A selection of stored messages. */
export interface Query {
  readonly streamPartId: StreamPartId
  readonly selection: ResendSelection
  readonly publisherId: NodeId | undefined
  readonly messageChainId: string | undefined
}

/** What a selection comes to at the moment it is asked for; what is stored later is not in it. */
export interface Extent {
  readonly from: MessageRef
  readonly to: MessageRef
  /** Of the last ones: how many; else 0. */
  readonly count: number
}

/** Throws NOT_STORED for a stream part that is neither kept nor was: nothing at all is another answer than nothing yet. */
export async function requireStored(
  { store, isKept }: { store: Pick<MessageStore, 'last'>; isKept: (streamPartId: StreamPartId) => boolean },
  streamPartId: StreamPartId,
): Promise<void> {
  if (isKept(streamPartId) || (await store.last(streamPartId, 1)) !== undefined) return
  throw storageError('NOT_STORED', streamPartId)
}

/** Where a selection begins and ends, nothing before `oldestMs` in it. Undefined when it is empty. */
export async function extentOf(
  store: Pick<MessageStore, 'last'>,
  { streamPartId, selection, publisherId, messageChainId }: Query,
  oldestMs: number,
  signal?: AbortSignal,
): Promise<Extent | undefined> {
  const found =
    selection.kind === 'last'
      ? await store.last(streamPartId, selection.count, { publisherId, messageChainId }, signal)
      : { from: selection.from, to: selection.to, count: 0 }
  if (found === undefined) return undefined
  const oldest = { timestamp: oldestMs, sequenceNumber: 0 }
  // Of what is due to be deleted nothing is said: the count would not be true.
  if (compareRefs(found.from, oldest) >= 0) return found
  return compareRefs(oldest, found.to) > 0 ? undefined : { from: oldest, to: found.to, count: 0 }
}

/** Pages of stored batches, each read while the one before is in use. Throws what the store throws. */
export async function* pagesOf(
  store: Pick<MessageStore, 'read'>,
  range: StoredRange,
  maxBytes: number,
): AsyncGenerator<readonly Uint8Array[], void> {
  let reading = store.read(range, { maxBytes })
  for (;;) {
    const { batches, next } = await reading
    if (next !== undefined) {
      reading = store.read(range, { maxBytes, after: next })
      // A failure is thrown in the next turn; a caller that ends the iteration here never sees it.
      reading.catch(() => {})
    }
    yield batches
    if (next === undefined) return
  }
}
