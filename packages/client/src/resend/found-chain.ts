import type { Gap } from '@runnel/network'
import { compareRefs, placeOf, type MessageRef, type StreamMessage } from '@runnel/protocol'

/** The messages found of a gap. It is whole when every message names the one before, from the end back to the start. */
export class FoundChain {
  readonly #gap: Pick<Gap, 'after' | 'upTo'>
  readonly #previous = new Map<string, MessageRef | undefined>()

  constructor(gap: Pick<Gap, 'after' | 'upTo'>) {
    this.#gap = gap
  }

  add(messages: readonly StreamMessage[]): void {
    for (const message of messages) {
      const { timestamp, sequenceNumber, previous } = message
      if (compareRefs(message, this.#gap.after) <= 0 || compareRefs(message, this.#gap.upTo) > 0) continue
      const place = previous && placeOf(previous)
      this.#previous.set(`${timestamp} ${sequenceNumber}`, place)
    }
  }

  get isWhole(): boolean {
    let place: MessageRef | undefined = this.#gap.upTo
    while (place !== undefined && compareRefs(place, this.#gap.after) > 0) {
      const key = `${place.timestamp} ${place.sequenceNumber}`
      if (!this.#previous.has(key)) return false
      place = this.#previous.get(key)
    }
    return true
  }
}
