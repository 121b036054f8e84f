/** How late something usually is: its mean and mean deviation, weighted as RFC 6298 (section 2) weighs round-trip times. */
export class Lateness {
  #meanMs: number | undefined
  #deviationMs = 0

  add(lateMs: number): void {
    if (this.#meanMs === undefined) {
      this.#meanMs = lateMs
      this.#deviationMs = lateMs / 2
      return
    }
    this.#deviationMs += (Math.abs(lateMs - this.#meanMs) - this.#deviationMs) / 4
    this.#meanMs += (lateMs - this.#meanMs) / 8
  }

  /** What is later than this is later than almost always; undefined before the first time. */
  get boundMs(): number | undefined {
    return this.#meanMs === undefined ? undefined : this.#meanMs + 4 * this.#deviationMs
  }
}
