import { compareRefs, laterPlace, type MessageRef, type PlaceRange } from '@runnel/protocol'

/** Where ranges begin that reach back before a floor. */
export const beginOf = (floorMs: number): MessageRef => ({
  timestamp: Math.max(0, floorMs - 1),
  sequenceNumber: 0,
})

/** Places of one chain, as ranges: ascending, and apart from each other. */
export class PlaceRanges {
  #ranges: PlaceRange[]

  constructor(ranges: readonly PlaceRange[] = []) {
    this.#ranges = [...ranges]
  }

  get list(): readonly PlaceRange[] {
    return this.#ranges
  }

  has(place: MessageRef): boolean {
    const range = this.#ranges.findLast(({ after }) => compareRefs(after, place) < 0)
    return range !== undefined && compareRefs(place, range.upTo) <= 0
  }

  /** The last place before `place` that is in it, or `fallback` where that is later. */
  lastBefore(place: MessageRef, fallback: MessageRef): MessageRef {
    const range = this.#ranges.findLast(({ upTo }) => compareRefs(upTo, place) < 0)
    return range === undefined ? fallback : laterPlace(range.upTo, fallback)
  }

  add({ after, upTo }: PlaceRange): void {
    if (compareRefs(after, upTo) >= 0) return
    // Mostly it goes on where the last one ends.
    const last = this.#ranges.at(-1)
    if (last !== undefined && compareRefs(last.upTo, after) === 0) {
      this.#ranges[this.#ranges.length - 1] = { after: last.after, upTo }
      return
    }
    const before = this.#ranges.filter((range) => compareRefs(range.upTo, after) < 0)
    const behind = this.#ranges.filter((range) => compareRefs(range.after, upTo) > 0)
    const touched = this.#ranges.slice(before.length, this.#ranges.length - behind.length)
    const [first, end] = [touched[0], touched.at(-1)]
    const joined = {
      after: first !== undefined && compareRefs(first.after, after) < 0 ? first.after : after,
      upTo: laterPlace(end?.upTo, upTo),
    }
    this.#ranges = [...before, joined, ...behind]
  }

  /** The first place after which something is in it that `others` lacks; undefined where there is nothing. */
  firstBeyond(others: PlaceRanges | undefined): MessageRef | undefined {
    for (const { after, upTo } of this.#ranges) {
      const covered = others?.list.find(
        (range) => compareRefs(range.after, after) <= 0 && compareRefs(after, range.upTo) < 0,
      )
      if (covered === undefined) return after
      if (compareRefs(covered.upTo, upTo) < 0) return covered.upTo
    }
    return undefined
  }

  /** Leaves out all places with an earlier timestamp. */
  cutBefore(floorMs: number): void {
    const first = beginOf(floorMs)
    this.#ranges = this.#ranges.flatMap(({ after, upTo }) =>
      upTo.timestamp < floorMs ? [] : [{ after: laterPlace(after, first), upTo }],
    )
  }
}
