import type { MessageRef } from '@runnel/protocol'
import { clientError } from '../errors.ts'

/** How far ahead of the clock a receiver takes a timestamp. */
export const maxAheadMs = 5 * 60_000

/**
 * The times and places of one message chain. Times never go back: without one of its own a message gets the clock's, or
 * the last message's where the clock went back; one given by the caller must not be before the last.
 */
export class MessageClock {
  #lastTimestamp = 0
  #head: MessageRef | undefined

  /** The time of the next message. Throws TIMESTAMP_OUT_OF_ORDER or TIMESTAMP_OUT_OF_BOUNDS. */
  timestampFor(given: number | undefined, nowMs: number): number {
    const timestamp = given ?? Math.max(nowMs, this.#lastTimestamp)
    if (given !== undefined) {
      if (!Number.isSafeInteger(given) || given < 0 || given > nowMs + maxAheadMs) {
        throw clientError('TIMESTAMP_OUT_OF_BOUNDS', `${given}; the clock says ${nowMs}`)
      }
      if (given < this.#lastTimestamp) {
        throw clientError('TIMESTAMP_OUT_OF_ORDER', `${given} is before ${this.#lastTimestamp}`)
      }
    }
    this.#lastTimestamp = timestamp
    return timestamp
  }

  /** The place of the message that is sent next, and of the one before it. Times come in the order they were given out. */
  next(timestamp: number): { readonly ref: MessageRef; readonly previous: MessageRef | undefined } {
    const previous = this.#head
    const sequenceNumber = previous?.timestamp === timestamp ? previous.sequenceNumber + 1 : 0
    this.#head = { timestamp, sequenceNumber }
    return { ref: this.#head, previous }
  }
}
