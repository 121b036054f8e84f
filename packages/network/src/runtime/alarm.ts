import type { Cancel, Clock } from '@runnel/protocol'

/** One timer that is set again and again. */
export class Alarm {
  readonly #clock: Clock
  readonly #onDue: () => void
  #dueMs = Infinity
  #cancel: Cancel | undefined

  constructor(options: { onDue: () => void }, modules: { clock: Clock }) {
    this.#onDue = options.onDue
    this.#clock = modules.clock
  }

  get dueMs(): number {
    return this.#dueMs
  }

  /** Goes off at `dueMs` and not before; Infinity turns it off. */
  set(dueMs: number): void {
    if (dueMs === this.#dueMs) return
    this.#cancel?.()
    this.#cancel = undefined
    this.#dueMs = dueMs
    if (dueMs === Infinity) return
    this.#cancel = this.#clock.schedule(Math.max(0, dueMs - this.#clock.now()), () => {
      this.#dueMs = Infinity
      this.#cancel = undefined
      this.#onDue()
    })
  }
}
