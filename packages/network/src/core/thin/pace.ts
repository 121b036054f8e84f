/** How often the batches of a chain come, weighted so that those of the last two seconds count most. */
export class Pace {
  readonly #fromPerS: number
  #weight = 0
  #lastMs = -Infinity

  constructor(fromPerS: number) {
    this.#fromPerS = fromPerS
  }

  /** A batch came. True when they come often. */
  add(nowMs: number): boolean {
    this.#weight = this.#weightAt(nowMs) + 1
    this.#lastMs = nowMs
    return this.isFast(nowMs)
  }

  /** What comes r times a second weighs r / ln 2 in the long run, as a weight halves in a second. */
  isFast(nowMs: number): boolean {
    return this.#weightAt(nowMs) * Math.LN2 >= this.#fromPerS
  }

  #weightAt(nowMs: number): number {
    return this.#weight * 2 ** ((this.#lastMs - nowMs) / 1_000)
  }
}
