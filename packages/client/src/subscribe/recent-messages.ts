import { compareRefs, type MessageRef, type StreamMessage } from '@runnel/protocol'
import { placeOf } from '../resend/selection.ts'
import { keyOfChain } from './chain-heads.ts'

/** Remembers recently delivered messages; older ones all count as delivered. */
export class RecentMessages {
  readonly #maxMessages: number
  /** In the order of delivery, with where each is. */
  readonly #places = new Map<string, MessageRef>()
  #forgottenUpTo: MessageRef | undefined

  constructor(maxMessages: number) {
    this.#maxMessages = maxMessages
  }

  add(message: StreamMessage): void {
    this.#places.set(keyOf(message), placeOf(message))
    for (const [oldest, place] of this.#places) {
      if (this.#places.size <= this.#maxMessages) return
      this.#places.delete(oldest)
      const upTo = this.#forgottenUpTo
      if (upTo === undefined || compareRefs(place, upTo) > 0) this.#forgottenUpTo = place
    }
  }

  has(message: StreamMessage): boolean {
    if (this.#forgottenUpTo !== undefined && compareRefs(message, this.#forgottenUpTo) <= 0) return true
    return this.#places.has(keyOf(message))
  }
}

function keyOf(message: StreamMessage): string {
  return `${keyOfChain(message)} ${message.timestamp} ${message.sequenceNumber}`
}
