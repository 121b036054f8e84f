import { RareSet } from '@runnel/protocol'
interface Waiter {
  readonly isMet: () => boolean
  readonly settle: (error?: unknown) => void
}

/** Promises of conditions, checked again whenever `check` is called. */
export class Waiters {
  readonly #waiters = new RareSet<Waiter>()

  /** Resolves when `isMet`; rejects when it throws, or with the signal's reason. */
  wait(isMet: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => settle(signal?.reason)
      const settle = (error?: unknown): void => {
        this.#waiters.delete(waiter)
        signal?.removeEventListener('abort', onAbort)
        if (error === undefined) resolve()
        else reject(error)
      }
      const waiter: Waiter = { isMet, settle }
      if (signal?.aborted === true) {
        settle(signal.reason)
        return
      }
      signal?.addEventListener('abort', onAbort)
      this.#waiters.add(waiter)
      checkOne(waiter)
    })
  }

  check(): void {
    for (const waiter of this.#waiters) checkOne(waiter)
  }
}

function checkOne({ isMet, settle }: Waiter): void {
  let met: boolean
  try {
    met = isMet()
  } catch (error) {
    settle(error)
    return
  }
  if (met) settle()
}
