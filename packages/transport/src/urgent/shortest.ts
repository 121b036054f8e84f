/** A value counts for at least this long, and at most twice as long: paths change, and clocks drift. */
const windowMs = 30_000

/** The least of the values of the last half a minute or minute. */
export class Shortest {
  #present = Infinity
  #earlier = Infinity
  #sinceMs = 0

  /** Undefined before the first. */
  get value(): number | undefined {
    const value = Math.min(this.#present, this.#earlier)
    return value === Infinity ? undefined : value
  }

  add(value: number, nowMs: number): void {
    if (nowMs - this.#sinceMs > windowMs) {
      this.#earlier = this.#present
      this.#present = Infinity
      this.#sinceMs = nowMs
    }
    this.#present = Math.min(this.#present, value)
  }

  /** Forgets all others: the path is another. */
  restart(value: number, nowMs: number): void {
    this.#earlier = Infinity
    this.#present = value
    this.#sinceMs = nowMs
  }
}
