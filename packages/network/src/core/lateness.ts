/**
 * How late something usually is: its mean and mean deviation, weighted as RFC 6298 (section 2) weighs round-trip times. The deviation falls
 * four times more slowly than it rises unless asked otherwise: on a link that loses one packet in ten, eight that come at once would make the next
 * that is sent again look like one that does not come.
 */
export class Lateness {
  readonly #fall: number
  #meanMs: number | undefined
  #deviationMs = 0

  /** `fall`: the part by which the deviation falls with each; RFC 6298 has a quarter. */
  constructor(fall = 1 / 16) {
    this.#fall = fall
  }

  add(lateMs: number): void {
    if (this.#meanMs === undefined) {
      this.#meanMs = lateMs
      this.#deviationMs = lateMs / 2
      return
    }
    const more = Math.abs(lateMs - this.#meanMs) - this.#deviationMs
    this.#deviationMs += more * (more > 0 ? 1 / 4 : this.#fall)
    this.#meanMs += (lateMs - this.#meanMs) / 8
  }

  /** What is later than this is later than almost always; undefined before the first time. */
  get boundMs(): number | undefined {
    return this.#meanMs === undefined ? undefined : this.#meanMs + 4 * this.#deviationMs
  }
}
