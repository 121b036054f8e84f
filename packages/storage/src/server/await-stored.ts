import type { Clock, MessageChain, MessageRef } from '@runnel/protocol'
import { storageError } from '../errors.ts'
import type { Ingest } from '../ingest.ts'
import type { MessageStore } from '../store/message-store.ts'

/** Resolves when the message is stored durably. Throws NOT_STORED when it is not within the time, and what the signal says. */
export async function awaitStored(
  chain: MessageChain,
  place: MessageRef,
  { maxMs, signal }: { readonly maxMs: number; readonly signal: AbortSignal },
  modules: { store: Pick<MessageStore, 'has'>; ingest: Pick<Ingest, 'whenStored'>; clock: Clock },
): Promise<void> {
  const { store, ingest, clock } = modules
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Before the store is asked: it may be stored in between.
  const cancelWaiting = ingest.whenStored(chain, place, resolve)
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  const cancelTimer = clock.schedule(maxMs, () =>
    reject(storageError('NOT_STORED', `within ${maxMs / 1000} s`)),
  )
  try {
    if (signal.aborted) onAbort()
    store.has(chain, place).then((has) => has && resolve(), reject)
    await promise
  } finally {
    cancelTimer()
    cancelWaiting()
    signal.removeEventListener('abort', onAbort)
  }
}
