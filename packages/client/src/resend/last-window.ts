import { compareRefs, type MessageRef, type StreamMessage } from '@runnel/protocol'
import { ByteQueue } from '../queue/byte-queue.ts'

export interface LastWindowLimits {
  readonly maxMessages: number
  readonly maxBytes: number
}

/**
 * The last `n` messages of a sequence whose end is not known yet. Messages known to be among them are returned early. Bytes are
 * limited, too: beyond the limit messages are returned early as well, and there may be a few extra.
 */
export class LastWindow {
  readonly #limits: LastWindowLimits
  readonly #begin: () => MessageRef | undefined
  /** All that comes is among the last. */
  #isOpen = false
  readonly #messages = new ByteQueue<StreamMessage>()

  /** `begin`: the place of the first of the last, once it is known. */
  constructor(limits: LastWindowLimits, begin: () => MessageRef | undefined = () => undefined) {
    this.#limits = limits
    this.#begin = begin
  }

  /**
   * Returns the messages to deliver now: those known to be among the last, and, when there is no room to wait, those that are so
   * as far as is known.
   */
  push(message: StreamMessage): readonly StreamMessage[] {
    if (this.#isOpen) return [message]
    this.#messages.push(message, message.content.length)
    if (this.#isKnownFrom(message)) {
      this.#isOpen = true
      return this.end()
    }
    if (this.#messages.length > this.#limits.maxMessages) this.#messages.shift()
    const early: StreamMessage[] = []
    while (this.#messages.bytes > this.#limits.maxBytes) {
      const message = this.#messages.shift()
      if (message === undefined) break
      early.push(message)
    }
    return early
  }

  /** False for a place before all that is in the window, once that has as many messages as it may. */
  reaches(place: MessageRef): boolean {
    const first = this.#messages.first
    const isFull = this.#messages.length >= this.#limits.maxMessages
    return !isFull || first === undefined || compareRefs(place, first) >= 0
  }

  /** The sequence has ended: returns the window, in order. */
  end(): readonly StreamMessage[] {
    return this.#messages.takeAll()
  }

  /**
   * The last begin with what is in the window: one message at most, and this is the one after. Of several at the place
   * where they begin some may be too many: how many, the end shows.
   */
  #isKnownFrom(message: StreamMessage): boolean {
    if (this.#messages.length > 2) return false
    const begin = this.#begin()
    return begin !== undefined && compareRefs(message, begin) > 0
  }
}
