/** Admits at most `maxCount` events in each window of `windowMs`. */
export class RateWindow {
  readonly #maxCount: number
  readonly #windowMs: number
  #startMs = Number.NEGATIVE_INFINITY
  #count = 0

  constructor(maxCount: number, windowMs: number) {
    this.#maxCount = maxCount
    this.#windowMs = windowMs
  }

  /** False when this event exceeds the limit. */
  admit(nowMs: number): boolean {
    if (nowMs - this.#startMs >= this.#windowMs) {
      this.#startMs = nowMs
      this.#count = 0
    }
    return ++this.#count <= this.#maxCount
  }
}
