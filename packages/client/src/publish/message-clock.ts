import type { MessageRef } from '@runnel/protocol'
import { clientError } from '../errors.ts'

/** How far ahead of its clock a receiver accepts a timestamp. */
export const maxAheadMs = 5 * 60_000

/**
 * The times and places of one message chain. Times never go back: without one of its own a message gets the clock's, or
 * the last message's where the clock went back; one given by the caller must not be before the last.
 */
export class MessageClock {
  readonly #maxBehindMs: number
  #lastTimestamp = 0
  #last: MessageRef | undefined

  constructor(options: { readonly maxBehindMs: number }) {
    this.#maxBehindMs = options.maxBehindMs
  }

  /** The clock was set back so far that nodes refuse whatever follows the last message. */
  isTooFarAhead(nowMs: number): boolean {
    return this.#lastTimestamp > nowMs + maxAheadMs
  }

  /** The time of the next message. Throws TIMESTAMP_OUT_OF_ORDER or TIMESTAMP_OUT_OF_BOUNDS. */
  timestampFor(given: number | undefined, nowMs: number): number {
    const timestamp = given ?? Math.max(nowMs, this.#lastTimestamp)
    if (given !== undefined) {
      const earliestMs = Math.max(0, nowMs - this.#maxBehindMs)
      if (!Number.isSafeInteger(given) || given < earliestMs || given > nowMs + maxAheadMs) {
        const bounds = `${earliestMs} to ${nowMs + maxAheadMs}`
        throw clientError('TIMESTAMP_OUT_OF_BOUNDS', `${given}, and it may be from ${bounds}`)
      }
      if (given < this.#lastTimestamp) {
        throw clientError('TIMESTAMP_OUT_OF_ORDER', `${given} is before ${this.#lastTimestamp}`)
      }
    }
    this.#lastTimestamp = timestamp
    return timestamp
  }

  /** The place of the message that is sent next. No place is given twice. Times come in the order they were given out. */
  next(timestamp: number): MessageRef {
    const last = this.#last
    const sequenceNumber = last?.timestamp === timestamp ? last.sequenceNumber + 1 : 0
    this.#last = { timestamp, sequenceNumber }
    return this.#last
  }
}
