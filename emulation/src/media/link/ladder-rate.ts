/** More than so much waiting, in time at the present rate: a step down; less: a step up. */
const tooLongMs = 100
const shortMs = 10
/** Between two steps. */
const stepMs = 200

/**
 * A ladder of rates by what waits at the sender, the "trivial" control of source 002: it knows nothing of the network but that it takes what it is
 * given.
 */
export class LadderRate {
  readonly #steps: readonly number[]
  #step: number
  #steppedMs = -Infinity

  /** Steps in kbit/s, the lowest first. */
  constructor(steps: readonly number[]) {
    this.#steps = steps
    this.#step = 0
  }

  /** The rate from now on, in kbit/s. */
  next(queuedBytes: number, nowMs: number): number {
    const rate = this.#steps[this.#step] ?? 0
    const queuedMs = (queuedBytes * 8) / rate
    const change = queuedMs > tooLongMs ? -1 : queuedMs < shortMs ? 1 : 0
    if (change === 0 || nowMs - this.#steppedMs < stepMs) return rate
    this.#steppedMs = nowMs
    this.#step = Math.min(this.#steps.length - 1, Math.max(0, this.#step + change))
    return this.#steps[this.#step] ?? 0
  }
}
