/** A miss weighs as much as so many batches that are brought. */
const missWeight = 3
/** Two misses in a row, or more than one in four for a while. */
const tooMuch = 2 * missWeight

/**
 * What the eager way of a chain was late with. Links lose a single batch now and then, which is no reason to leave one; who is late with
 * more than a quarter of the batches, however they are spread, is left.
 */
export class Misses {
  #weight = 0

  /** Another neighbour brought a batch first. True when that is too often. */
  missed(): boolean {
    this.#weight += missWeight
    return this.#weight >= tooMuch
  }

  /** The eager way brought a batch first. */
  brought(): void {
    this.#weight = Math.max(0, this.#weight - 1)
  }

  /** It brought what had counted as missed, only later. */
  broughtLate(): void {
    this.#weight = Math.max(0, this.#weight - missWeight)
  }

  clear(): void {
    this.#weight = 0
  }
}
