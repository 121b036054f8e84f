import type { Clock } from '@runnel/protocol'
import { storageError } from '../errors.ts'

/** The bytes an asker lets a storage node send. */
export class Credit {
  readonly #clock: Clock
  readonly #maxBytes: number
  readonly #idleMs: number
  #bytes: number
  #wake: () => void = () => {}

  constructor(
    options: { readonly windowBytes: number; readonly maxBytes: number; readonly idleMs: number },
    modules: { readonly clock: Clock },
  ) {
    this.#clock = modules.clock
    this.#maxBytes = options.maxBytes
    this.#idleMs = options.idleMs
    this.#bytes = Math.min(options.windowBytes, options.maxBytes)
  }

  /** So many more; above the limit they do not count. */
  add(bytes: number): void {
    this.#bytes = Math.min(this.#bytes + bytes, this.#maxBytes)
    if (this.#bytes > 0) this.#wake()
  }

  /** Uses some up. One batch may go over: what is left can be less than nothing. */
  spend(bytes: number): void {
    this.#bytes -= bytes
  }

  /** Resolves when something may be sent. Throws IDLE when nothing may for too long, and what the signal says. */
  available(signal: AbortSignal): Promise<void> {
    if (this.#bytes > 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        cancel()
        signal.removeEventListener('abort', onAbort)
        this.#wake = () => {}
        settle()
      }
      const onAbort = () => end(() => reject(signal.reason))
      const cancel = this.#clock.schedule(this.#idleMs, () =>
        end(() => reject(storageError('IDLE', `${this.#idleMs / 1000} s`))),
      )
      this.#wake = () => end(resolve)
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
    })
  }
}
