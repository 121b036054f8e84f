import type { Cancel, Clock } from '../ports.ts'

/** One timer that is set again and again, by the monotonic clock. */
export class Alarm {
  readonly #clock: Clock
  readonly #onDue: () => void
  #dueMs = Infinity
  #cancel: Cancel | undefined

  constructor(options: { onDue(): void }, modules: { readonly clock: Clock }) {
    this.#onDue = () => options.onDue()
    this.#clock = modules.clock
  }

  /** When it goes off; Infinity when it is not set. */
  get dueMs(): number {
    return this.#dueMs
  }

  /** Goes off at `dueMs` and not before, whatever it was set to; Infinity turns it off. */
  set(dueMs: number): void {
    if (dueMs === this.#dueMs) return
    this.#cancel?.()
    this.#cancel = undefined
    this.#dueMs = dueMs
    if (dueMs === Infinity) return
    const delayMs = Math.max(0, Math.ceil(dueMs - this.#clock.monotonicMs()))
    this.#cancel = this.#clock.schedule(delayMs, () => {
      this.#dueMs = Infinity
      this.#cancel = undefined
      this.#onDue()
    })
  }
}
