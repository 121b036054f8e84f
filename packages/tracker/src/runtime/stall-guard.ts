import type { Cancel, Clock } from '@runnel/protocol'

/** The clock is looked at this often while a stall lasts, had it not been one. */
const looksPerStall = 3

export interface StallGuardOptions {
  /** The process stood still when the clock was not looked at for this long, in milliseconds. */
  readonly stallMs: number
  /** Called once for each time, with how long it was, in milliseconds. */
  onStall(stalledMs: number): void
}

/**
 * Notices that this process stood still: it was stopped, its machine slept, or there was no processor for it. Whoever
 * depends on that calls `check` before dealing with anything that has happened, for what comes first afterwards may be as
 * well a packet as a timer. Much work does not count as standing still, as long as there are checks in between.
 */
export class StallGuard {
  readonly #options: StallGuardOptions
  readonly #clock: Clock
  #lastMs = 0
  #cancel: Cancel | undefined

  constructor(options: StallGuardOptions, modules: { readonly clock: Clock }) {
    this.#options = options
    this.#clock = modules.clock
  }

  /** Idempotent. */
  start(): void {
    if (this.#cancel !== undefined) return
    this.#lastMs = this.#clock.monotonicMs()
    this.#lookLater()
  }

  /** Idempotent. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  check(): void {
    const now = this.#clock.monotonicMs()
    const stalledMs = now - this.#lastMs
    this.#lastMs = now
    if (this.#cancel !== undefined && stalledMs >= this.#options.stallMs) this.#options.onStall(stalledMs)
  }

  #lookLater(): void {
    this.#cancel = this.#clock.schedule(this.#options.stallMs / looksPerStall, () => {
      this.#lookLater()
      this.check()
    })
  }
}
