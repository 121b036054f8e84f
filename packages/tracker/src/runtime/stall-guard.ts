import type { Cancel, Clock } from '@runnel/protocol'

/** The clock is looked at this often while a stall lasts, had it not been one. */
const looksPerStall = 3
/** Of the time in which it stood still a process has used no more than this share of a processor; a long callback takes more. */
const idleShare = 0.05
/** How long a reading of the processor time is good for, in milliseconds. */
const readingMs = 50

export interface StallGuardOptions {
  /** The process stood still when the clock was not looked at for this long, in milliseconds. */
  readonly stallMs: number
  /** Called once for each time, with how long it was, in milliseconds. */
  onStall(stalledMs: number): void
}

/**
 * Notices that this process stood still: it was stopped, its machine slept, or there was no processor for it. Whoever
 * depends on that calls `check` before dealing with anything that has happened, for what comes first afterwards may be as
 * well a packet as a timer. Much work is not standing still, be it in one piece.
 */
export class StallGuard {
  readonly #options: StallGuardOptions
  readonly #clock: Clock
  readonly #cpuMs: () => number
  #lastMs = 0
  #reading = { atMs: 0, cpuMs: 0 }
  #cancel: Cancel | undefined

  /** `cpuMs` tells how much processor time this process has used, in milliseconds. */
  constructor(options: StallGuardOptions, modules: { readonly clock: Clock; cpuMs(): number }) {
    this.#options = options
    this.#clock = modules.clock
    this.#cpuMs = () => modules.cpuMs()
  }

  /** Idempotent. */
  start(): void {
    if (this.#cancel !== undefined) return
    this.#lastMs = this.#clock.monotonicMs()
    this.#reading = { atMs: this.#lastMs, cpuMs: this.#cpuMs() }
    this.#lookLater()
  }

  /** Idempotent. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  check(): void {
    const nowMs = this.#clock.monotonicMs()
    const stalledMs = nowMs - this.#lastMs
    this.#lastMs = nowMs
    if (this.#cancel === undefined || nowMs - this.#reading.atMs < readingMs) return
    const before = this.#reading
    this.#reading = { atMs: nowMs, cpuMs: this.#cpuMs() }
    if (stalledMs < this.#options.stallMs) return
    if (this.#reading.cpuMs - before.cpuMs <= idleShare * stalledMs) this.#options.onStall(stalledMs)
  }

  #lookLater(): void {
    this.#cancel = this.#clock.schedule(this.#options.stallMs / looksPerStall, () => {
      this.#lookLater()
      this.check()
    })
  }
}
