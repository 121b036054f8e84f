import { laterPlace, type MessageRef, type PlaceRange, type ReaderCursor } from '@runnel/protocol'
import { beginOf, PlaceRanges } from './place-ranges.ts'

/**
 * Messages of a stream that are done with: all with a timestamp before the floor, and beyond it ranges of places of each chain. Two of them
 * together are what either has, in any order.
 */
export class Progress {
  #floorMs: number
  /** By tag; the chain that was first heard of longest ago first. */
  readonly #chains = new Map<string, PlaceRanges>()

  constructor({ floorMs, chains }: Omit<ReaderCursor, 'generation'>) {
    this.#floorMs = floorMs
    for (const { tag, ranges } of chains) this.#chains.set(tag, new PlaceRanges(ranges))
  }

  get floorMs(): number {
    return this.#floorMs
  }

  get chains(): ReadonlyMap<string, PlaceRanges> {
    return this.#chains
  }

  has(tag: string, place: MessageRef): boolean {
    return place.timestamp < this.#floorMs || this.#chains.get(tag)?.has(place) === true
  }

  /** Of a range that begins before the floor it takes the rest, as `raiseFloor` leaves it. */
  add(tag: string, { after, upTo }: PlaceRange): void {
    if (upTo.timestamp < this.#floorMs) return
    const ranges = this.#chains.get(tag) ?? new PlaceRanges()
    this.#chains.set(tag, ranges)
    ranges.add({ after: laterPlace(after, beginOf(this.#floorMs)), upTo })
  }

  /** Forgets the ranges of a chain. */
  forget(tag: string): void {
    this.#chains.delete(tag)
  }

  /** Everything before is done. Does nothing where the floor is higher already. */
  raiseFloor(floorMs: number): void {
    if (floorMs <= this.#floorMs) return
    this.#floorMs = floorMs
    for (const [tag, ranges] of this.#chains) {
      ranges.cutBefore(floorMs)
      if (ranges.list.length === 0) this.#chains.delete(tag)
    }
  }

  join(other: Omit<ReaderCursor, 'generation'>): void {
    for (const { tag, ranges } of other.chains) for (const range of ranges) this.add(tag, range)
    this.raiseFloor(other.floorMs)
  }

  /** As a cursor with so many ranges at most: the latest are left out, and would be delivered again. */
  cursor(generation: number, maxRanges: number): { readonly cursor: ReaderCursor; readonly leftOut: number } {
    const all = [...this.#chains].flatMap(([tag, { list }]) => list.map((range) => ({ tag, range })))
    const kept =
      all.length <= maxRanges
        ? all
        : all.toSorted((a, b) => a.range.upTo.timestamp - b.range.upTo.timestamp).slice(0, maxRanges)
    const byTag = Map.groupBy(kept, ({ tag }) => tag)
    const chains = [...byTag].map(([tag, ranges]) => ({ tag, ranges: ranges.map(({ range }) => range) }))
    return { cursor: { generation, floorMs: this.#floorMs, chains }, leftOut: all.length - kept.length }
  }
}
