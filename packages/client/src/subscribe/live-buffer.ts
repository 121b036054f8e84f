import {
  compareRefs,
  placeOf,
  type MessageChain,
  type MessageRef,
  type StreamMessage,
} from '@runnel/protocol'
import { keyOfChain } from './chain-heads.ts'

export interface LiveBufferLimits {
  readonly maxMessages: number
  readonly maxBytes: number
}

/** Places between which messages had to go. */
export interface DroppedStretch {
  readonly from: MessageRef
  readonly to: MessageRef
}

/**
 * Live messages that wait for history, by their places: what filled a gap came after the messages behind that gap, and the node does not count it
 * as missing any more. At a limit the oldest go, and it is remembered where, so that they can be read from storage.
 */
export class LiveBuffer {
  readonly #limits: LiveBufferLimits
  /** Ascending. */
  #messages: StreamMessage[] = []
  /** Those before this index were taken. */
  #start = 0
  #bytes = 0
  #dropped: DroppedStretch | undefined

  constructor(limits: LiveBufferLimits) {
    this.#limits = limits
  }

  push(message: StreamMessage): void {
    this.#messages.splice(this.#indexFor(message), 0, message)
    this.#bytes += message.content.length
    while (this.#isTooFull()) {
      const oldest = this.shift()
      if (oldest !== undefined) this.#noteDropped(oldest)
    }
  }

  /** Takes the oldest one out. */
  shift(): StreamMessage | undefined {
    const message = this.#messages[this.#start]
    if (message === undefined) return undefined
    this.#start++
    this.#bytes -= message.content.length
    // Shifting an array moves all of it, so the taken half is removed at once.
    if (this.#start * 2 >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#start)
      this.#start = 0
    }
    return message
  }

  holds(chain: MessageChain, place: MessageRef): boolean {
    for (let i = this.#indexFor(place) - 1; i >= this.#start; i--) {
      const message = this.#messages[i] as StreamMessage
      if (compareRefs(message, place) !== 0) return false
      if (keyOfChain(message) === keyOfChain(chain)) return true
    }
    return false
  }

  /** What had to go since it was asked last. */
  takeDropped(): DroppedStretch | undefined {
    const dropped = this.#dropped
    this.#dropped = undefined
    return dropped
  }

  #isTooFull(): boolean {
    const { maxMessages, maxBytes } = this.#limits
    return this.#messages.length - this.#start > maxMessages || this.#bytes > maxBytes
  }

  /** Behind all that are not after it: most come in order, at the end. */
  #indexFor(place: MessageRef): number {
    let low = this.#start
    let high = this.#messages.length
    const newest = this.#messages[high - 1]
    if (newest !== undefined && compareRefs(place, newest) >= 0) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareRefs(place, this.#messages[middle] as StreamMessage) >= 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #noteDropped(message: StreamMessage): void {
    const place = placeOf(message)
    const { from = place, to = place } = this.#dropped ?? {}
    this.#dropped = {
      from: compareRefs(place, from) < 0 ? place : from,
      to: compareRefs(place, to) > 0 ? place : to,
    }
  }
}
