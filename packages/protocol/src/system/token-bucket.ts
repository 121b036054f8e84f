/** A rate limit: `burst` tokens at first, `perSecond` new ones, never more than `burst`. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #burst: number
  #tokens: number
  #filledAt: number

  constructor(options: { readonly perSecond: number; readonly burst: number }, nowMs: number) {
    this.#perSecond = options.perSecond
    this.#burst = options.burst
    this.#tokens = options.burst
    this.#filledAt = nowMs
  }

  /** Takes `count` tokens; takes none and says false when there are not as many. */
  take(nowMs: number, count = 1): boolean {
    if (!this.has(nowMs, count)) return false
    this.#tokens -= count
    return true
  }

  /** Adds `count` tokens, as far as they fit. */
  give(count: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + count)
  }

  /** Whether there are `count` tokens; takes none. */
  has(nowMs: number, count = 1): boolean {
    const earned = (Math.max(0, nowMs - this.#filledAt) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#burst, this.#tokens + earned)
    this.#filledAt = Math.max(nowMs, this.#filledAt)
    return this.#tokens >= count
  }

  /** How long until there are `count` tokens, which is at most a burst; 0 when there are. */
  waitMs(nowMs: number, count = 1): number {
    return this.has(nowMs, count) ? 0 : ((count - this.#tokens) / this.#perSecond) * 1000
  }
}
