/** What became of the messages of one publisher at one reader. */
export interface SequenceCounts {
  /** Different messages that came. */
  received: number
  /** That came although they had come before. */
  duplicates: number
  /** That came after one that was published later. */
  disordered: number
}

/** Missing numbers remembered of one publisher; of older ones it is not known whether they come again. */
const maxMissing = 4_096

/** Follows the numbers of one publisher's messages at one reader. Memory is bounded, whatever comes. */
export class Sequence {
  readonly #missing = new Set<number>()
  #next = 0

  /** Numbers before the last one that came which did not come. */
  get missing(): number {
    return this.#missing.size
  }

  /** Counts a message with a number. Returns whether it is new. */
  take(number: number, counts: SequenceCounts): boolean {
    if (number >= this.#next) {
      for (let missing = Math.max(this.#next, number - maxMissing); missing < number; missing++)
        this.#addMissing(missing)
      this.#next = number + 1
    } else if (this.#missing.delete(number)) counts.disordered++
    else {
      counts.duplicates++
      return false
    }
    counts.received++
    return true
  }

  #addMissing(number: number): void {
    this.#missing.add(number)
    if (this.#missing.size <= maxMissing) return
    for (const oldest of this.#missing) {
      this.#missing.delete(oldest)
      return
    }
  }
}
