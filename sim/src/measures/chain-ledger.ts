/** Checks the numbers of one chain as an application sees them: each once, in order. */
export class ChainLedger {
  readonly #seen = new Set<number>()
  #newest = -1
  outOfOrder = 0
  duplicates = 0

  add(number: number): void {
    if (this.#seen.has(number)) {
      this.duplicates++
      return
    }
    this.#seen.add(number)
    if (number < this.#newest) this.outOfOrder++
    this.#newest = Math.max(this.#newest, number)
  }

  get delivered(): number {
    return this.#seen.size
  }

  /** The numbers below `count` that never came. */
  missing(count: number): number[] {
    return Array.from({ length: count }, (_, number) => number).filter((number) => !this.#seen.has(number))
  }
}
