/**
 * How late something usually is: its mean and mean deviation, weighted as RFC 6298 (section 2) weighs round-trip times. But the deviation falls four
 * times more slowly than it rises: on a link that loses one packet in ten, eight that come at once would make the next that is sent again look
 * like one that does not come.
 */
export class Lateness {
  #meanMs: number | undefined
  #deviationMs = 0

  add(lateMs: number): void {
    if (this.#meanMs === undefined) {
      this.#meanMs = lateMs
      this.#deviationMs = lateMs / 2
      return
    }
    const more = Math.abs(lateMs - this.#meanMs) - this.#deviationMs
    this.#deviationMs += more > 0 ? more / 4 : more / 16
    this.#meanMs += (lateMs - this.#meanMs) / 8
  }

  /** What is later than this is later than almost always; undefined before the first time. */
  get boundMs(): number | undefined {
    return this.#meanMs === undefined ? undefined : this.#meanMs + 4 * this.#deviationMs
  }
}
