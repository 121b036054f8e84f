import { compareRefs, firstIndex, type MessageRef, type MissingRange } from '@runnel/protocol'

/** Missing ranges of one chain, ascending and disjoint. Look-up is logarithmic; most open at the end. */
export class RangeList<Range extends MissingRange> {
  readonly #ranges: Range[] = []

  get all(): readonly Range[] {
    return this.#ranges
  }

  /** The range that a place lies in. */
  around(place: MessageRef): Range | undefined {
    const range = this.#ranges[this.#firstUpTo(place)]
    return range !== undefined && compareRefs(place, range.after) > 0 ? range : undefined
  }

  add(range: Range): void {
    const newest = this.#ranges.at(-1)
    if (newest === undefined || compareRefs(newest.upTo, range.after) <= 0) this.#ranges.push(range)
    else this.#ranges.splice(this.#firstUpTo(range.upTo), 0, range)
  }

  /** False when it is not here. */
  delete(range: Range): boolean {
    const at = this.#firstUpTo(range.upTo)
    if (this.#ranges[at] !== range) return false
    this.#ranges.splice(at, 1)
    return true
  }

  /** The index of the first range that ends at or after a place. */
  #firstUpTo(place: MessageRef): number {
    return firstIndex(this.#ranges, ({ upTo }) => compareRefs(upTo, place) >= 0)
  }
}
