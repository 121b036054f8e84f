import { backoffMs } from '@runnel/protocol'

export interface PartFaultsLimits {
  readonly minFaultRestMs: number
  readonly maxFaultRestMs: number
  readonly faultForgetMs: number
}

/**
 * The faults of a stream part. It rests after each, longer after more of them, so that a fault that repeats at once costs
 * little.
 */
export class PartFaults {
  readonly #limits: PartFaultsLimits
  /** Number of faults in a row. */
  #count = 0
  #lastMs = -Infinity
  #restsUntilMs = Infinity

  constructor(limits: PartFaultsLimits) {
    this.#limits = limits
  }

  /** When the rest is over; Infinity without one. */
  get restsUntilMs(): number {
    return this.#restsUntilMs
  }

  get isResting(): boolean {
    return this.#restsUntilMs !== Infinity
  }

  /** Records one more fault. Returns the number of faults in a row. */
  add(nowMs: number): number {
    const { minFaultRestMs, maxFaultRestMs, faultForgetMs } = this.#limits
    if (nowMs - this.#lastMs >= faultForgetMs) this.#count = 0
    this.#count++
    this.#lastMs = nowMs
    this.#restsUntilMs = nowMs + backoffMs(this.#count, minFaultRestMs, maxFaultRestMs)
    return this.#count
  }

  /** True when a rest has just ended. */
  endRest(nowMs: number): boolean {
    if (this.#restsUntilMs > nowMs) return false
    this.#restsUntilMs = Infinity
    return true
  }
}
