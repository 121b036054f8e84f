import { compareRefs, laterPlace, placeOf, type MessageRef, type StreamMessage } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { keyOfChain } from './chain-heads.ts'

/** Remembers recently delivered messages; older ones all count as delivered. */
export class RecentMessages {
  /** In the order of delivery, with where each is. */
  readonly #places: LRU<MessageRef>
  #forgottenUpTo: MessageRef | undefined

  constructor(maxMessages: number) {
    this.#places = new LRU(maxMessages)
  }

  add(message: StreamMessage): void {
    const forgotten = this.#places.setWithEvicted(keyOf(message), placeOf(message))?.value
    if (forgotten) this.#forgottenUpTo = laterPlace(this.#forgottenUpTo, forgotten)
  }

  has(message: StreamMessage): boolean {
    if (this.#forgottenUpTo !== undefined && compareRefs(message, this.#forgottenUpTo) <= 0) return true
    return this.#places.has(keyOf(message))
  }
}

function keyOf(message: StreamMessage): string {
  return `${keyOfChain(message)} ${message.timestamp} ${message.sequenceNumber}`
}
