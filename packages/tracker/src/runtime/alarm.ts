import type { Cancel, Clock } from '@runnel/protocol'

/** One timer that is set to the earliest of what is waited for. */
export class Alarm {
  readonly #clock: Clock
  readonly #onDue: () => void
  #set: { readonly atMs: number; readonly cancel: Cancel } | undefined

  constructor(options: { onDue(): void }, modules: { readonly clock: Clock }) {
    this.#clock = modules.clock
    this.#onDue = () => options.onDue()
  }

  /** Goes off at this time, by the monotonic clock, or before when it was set to an earlier one; Infinity leaves it as it is. */
  set(atMs: number): void {
    if (atMs === Infinity || (this.#set !== undefined && this.#set.atMs <= atMs)) return
    this.#set?.cancel()
    const delayMs = Math.max(0, Math.ceil(atMs - this.#clock.monotonicMs()))
    const cancel = this.#clock.schedule(delayMs, () => {
      this.#set = undefined
      this.#onDue()
    })
    this.#set = { atMs, cancel }
  }

  clear(): void {
    this.#set?.cancel()
    this.#set = undefined
  }
}
