import { backoffMs, type Cancel, type Clock } from '@runnel/protocol'

/** Resolves after the time, or rejects with what the signal says. */
export function delay(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.schedule(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}

/** Lets everything else that is due happen first. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.endOfTurn(resolve))
}

/** Does some work when it is asked for and has not been done for so long. Rejects with what the work throws. */
export function everyNowAndThen(
  clock: Clock,
  intervalMs: number,
  work: () => Promise<void>,
): () => Promise<void> {
  let doneMs = clock.monotonicMs()
  return async () => {
    if (clock.monotonicMs() - doneMs < intervalMs) return
    doneMs = clock.monotonicMs()
    await work()
  }
}

export interface Retrying {
  readonly clock: Clock
  readonly limits: { readonly minStoreBackoffMs: number; readonly maxStoreBackoffMs: number }
  readonly signal: AbortSignal
  readonly onFailure: (error: unknown) => void
}

/** Tries some work until it is done, with growing pauses. Rejects only with what the signal says. */
export async function untilDone<T>(work: () => Promise<T>, retrying: Retrying): Promise<T> {
  const { clock, limits, signal, onFailure } = retrying
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      onFailure(error)
      await delay(clock, backoffMs(failures, limits.minStoreBackoffMs, limits.maxStoreBackoffMs), signal)
    }
  }
}

/** Runs some work, which never rejects, again and again: each time so long after it ended. */
export function every(clock: Clock, intervalMs: number, work: () => Promise<void>): Cancel {
  let cancel: Cancel = () => {}
  let isOver = false
  const plan = () => {
    if (!isOver) cancel = clock.schedule(intervalMs, () => void work().then(plan))
  }
  plan()
  return () => {
    isOver = true
    cancel()
  }
}
