/** A rate limit: `burst` tokens at first, `perSecond` new ones, never more than `burst`. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #burst: number
  #tokens: number
  #filledAt: number

  constructor(options: { readonly perSecond: number; readonly burst: number }, now: number) {
    this.#perSecond = options.perSecond
    this.#burst = options.burst
    this.#tokens = options.burst
    this.#filledAt = now
  }

  /** Takes `count` tokens; takes none and returns false when there are fewer. */
  take(now: number, count = 1): boolean {
    if (!this.has(now, count)) return false
    this.#tokens -= count
    return true
  }

  /** Whether there are `count` tokens; takes none. */
  has(now: number, count = 1): boolean {
    const earned = (Math.max(0, now - this.#filledAt) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#burst, this.#tokens + earned)
    this.#filledAt = Math.max(now, this.#filledAt)
    return this.#tokens >= count
  }
}
