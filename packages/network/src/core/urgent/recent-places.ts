import { compareRefs, type MessageRef } from '@runnel/protocol'

/**
 * The places of a chain whose messages came, in whatever order and with whatever is missing between them. It keeps the newest; what is not
 * after those that it forgot counts as seen, so that nothing comes twice.
 */
export class RecentPlaces {
  readonly #places: MessageRef[] = []
  /** The newest place that was forgotten. */
  #floor: MessageRef = { timestamp: -1, sequenceNumber: 0 }

  get size(): number {
    return this.#places.length
  }

  has(place: MessageRef): boolean {
    if (compareRefs(place, this.#floor) <= 0) return true
    const other = this.#places[this.#firstFrom(place)]
    return other !== undefined && compareRefs(other, place) === 0
  }

  /** Of a place that it does not have. */
  add({ timestamp, sequenceNumber }: MessageRef): void {
    const place = { timestamp, sequenceNumber }
    this.#places.splice(this.#firstFrom(place), 0, place)
  }

  dropOldest(): void {
    this.#floor = this.#places.shift() ?? this.#floor
  }

  /** The index of the first place that is not before another; most are the newest. */
  #firstFrom(place: MessageRef): number {
    let index = this.#places.length
    while (index > 0 && compareRefs(this.#places[index - 1] as MessageRef, place) >= 0) index--
    return index
  }
}
