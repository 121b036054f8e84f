import { storageError } from '../../errors.ts'

interface Waiting {
  readonly begin: () => void
}

/** Pieces of work that wait, for all keys. */
const maxWaiting = 1000

/**
 * Does one piece of work at a time. The keys take turns, so that a key with much work does not make the others wait for all of
 * it.
 */
export class Turns {
  readonly #waiting = new Map<string, Set<Waiting>>()
  #count = 0
  #isBusy = false

  /** What the work gives. Throws STORE_OVERLOADED, and what the signal says if it does so before the work begins. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.#isBusy) await this.#turn(key, signal)
    this.#isBusy = true
    try {
      return await work()
    } finally {
      this.#next()
    }
  }

  #turn(key: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#count >= maxWaiting)
      throw storageError('STORE_OVERLOADED', `${maxWaiting} requests to count or search`)
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#remove(key, waiting)
        reject(signal?.reason)
      }
      const begin = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const waiting = { begin }
      this.#waiting.set(key, (this.#waiting.get(key) ?? new Set()).add(waiting))
      this.#count++
      signal?.addEventListener('abort', onAbort)
    })
  }

  /** Takes the first piece of the key that has waited longest; that key goes to the end. Busy until nothing waits. */
  #next(): void {
    const [entry] = this.#waiting
    const [first] = entry?.[1] ?? []
    this.#isBusy = first !== undefined
    if (entry === undefined || first === undefined) return
    const [key, ofKey] = entry
    this.#remove(key, first)
    if (ofKey.size > 0) {
      this.#waiting.delete(key)
      this.#waiting.set(key, ofKey)
    }
    first.begin()
  }

  #remove(key: string, waiting: Waiting): void {
    const ofKey = this.#waiting.get(key)
    if (!ofKey?.delete(waiting)) return
    this.#count--
    if (ofKey.size === 0) this.#waiting.delete(key)
  }
}
