import type { Gap } from '@runnel/network'
import { compareRefs, placeOf, type MessageRef, type StreamMessage } from '@runnel/protocol'

/** The messages found of a gap. It is whole when every message names the one before, from the end back to the start. */
export class FoundChain {
  readonly #gap: Pick<Gap, 'after' | 'upTo'>
  readonly #previous = new Map<string, MessageRef | undefined>()

  constructor(gap: Pick<Gap, 'after' | 'upTo'>) {
    this.#gap = gap
  }

  /** Returns those of them that are in the gap. */
  add(messages: readonly StreamMessage[]): readonly StreamMessage[] {
    const { after, upTo } = this.#gap
    const within = messages.filter(
      (message) => compareRefs(message, after) > 0 && compareRefs(message, upTo) <= 0,
    )
    for (const { timestamp, sequenceNumber, previous } of within)
      this.#previous.set(`${timestamp} ${sequenceNumber}`, previous && placeOf(previous))
    return within
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
