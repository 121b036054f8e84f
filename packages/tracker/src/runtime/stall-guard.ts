import type { Cancel, Clock } from '@runnel/protocol'

/** The clock is read this often within the shortest stall. */
const looksPerStall = 3
/** CPU share below which a pause counts as a stall; a long callback uses more. */
const idleShare = 0.05
/** How long a reading of the CPU time is valid, in milliseconds. */
const readingMs = 50

export interface StallGuardOptions {
  /** The process stalled when the clock was not read for this long, in milliseconds. */
  readonly stallMs: number
  /** Called once for each stall with its duration, in milliseconds. */
  onStall(stalledMs: number): void
}

/**
 * Notices that this process stalled: it was stopped, its machine slept, or it got no CPU. Whoever depends on that calls `check`
 * before handling any event, because the first one after a stall may be a packet as well as a timer. A long computation is not
 * a stall.
 */
export class StallGuard {
  readonly #options: StallGuardOptions
  readonly #clock: Clock
  readonly #cpuMs: () => number
  #lastMs = 0
  #reading = { atMs: 0, cpuMs: 0 }
  #cancel: Cancel | undefined

  /** `cpuMs` returns the CPU time this process has used, in milliseconds. */
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
