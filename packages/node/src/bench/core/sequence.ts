/** What became of the messages of one publisher at one reader. */
export interface SequenceCounts {
  /** Different messages that came. */
  received: number
  /** That came although they had come before. */
  duplicates: number
  /** That came after one that was published later. */
  disordered: number
}

/** Missing numbers remembered of one publisher. Older ones stay missing: one that comes after all counts as if it came again. */
const maxMissing = 4_096

/** Follows the numbers of one publisher's messages at one reader, from the first that comes. Memory is bounded, whatever comes. */
export class Sequence {
  readonly #missing = new Set<number>()
  /** Missing ones that are remembered no more. */
  #forgotten = 0
  #first: number | undefined
  #next = 0

  /** How many did not come that were published between two which did. */
  get missing(): number {
    return this.#missing.size + this.#forgotten
  }

  /** The lowest number that came: as many as were not there before it. */
  get first(): number {
    return this.#first ?? 0
  }

  /** Counts a message with a number. Returns whether it is new. */
  take(number: number, counts: SequenceCounts): boolean {
    const first = this.#first
    if (first === undefined || number >= this.#next) {
      if (first !== undefined) this.#note(this.#next, number)
      this.#first ??= number
      this.#next = number + 1
    } else if (number < first) {
      this.#note(number + 1, first)
      this.#first = number
      counts.disordered++
    } else if (this.#missing.delete(number)) counts.disordered++
    else {
      counts.duplicates++
      return false
    }
    counts.received++
    return true
  }

  /** Those from one number to before another are missing; the oldest are forgotten first. */
  #note(from: number, to: number): void {
    const rememberFrom = Math.max(from, to - maxMissing)
    this.#forgotten += rememberFrom - from
    for (let number = rememberFrom; number < to; number++) this.#missing.add(number)
    for (const oldest of this.#missing) {
      if (this.#missing.size <= maxMissing) return
      this.#missing.delete(oldest)
      this.#forgotten++
    }
  }
}
