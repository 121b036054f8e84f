import { compareRefs, type MessageRef, type StreamMessage } from '@runnel/protocol'

export interface LastWindowLimits {
  readonly maxMessages: number
  readonly maxBytes: number
}

/**
 * The last so many of a sequence whose end is not known yet. What is known to be among them comes out early. Bytes have
 * a limit too: what goes beyond it comes out early as well, and then there may be a few too many.
 */
export class LastWindow {
  readonly #limits: LastWindowLimits
  readonly #begin: () => MessageRef | undefined
  /** All that comes is among the last. */
  #isOpen = false
  #messages: StreamMessage[] = []
  /** Where in `#messages` the window begins. */
  #start = 0
  #bytes = 0

  /** `begin`: the place of the first of the last, once it is known. */
  constructor(limits: LastWindowLimits, begin: () => MessageRef | undefined = () => undefined) {
    this.#limits = limits
    this.#begin = begin
  }

  /**
   * Returns what can go now, as it is among the last; or must, as for all that is known it is, and there is no room to
   * wait for the rest.
   */
  push(message: StreamMessage): readonly StreamMessage[] {
    if (this.#isOpen) return [message]
    this.#messages.push(message)
    this.#bytes += message.content.length
    if (this.#isKnownFrom(message)) {
      this.#isOpen = true
      return this.end()
    }
    if (this.#messages.length - this.#start > this.#limits.maxMessages) this.#shift()
    const early: StreamMessage[] = []
    while (this.#bytes > this.#limits.maxBytes) {
      const message = this.#shift()
      if (message === undefined) break
      early.push(message)
    }
    return early
  }

  /** False for a place before all that is in the window, once that has as many messages as it may. */
  reaches(place: MessageRef): boolean {
    const first = this.#messages[this.#start]
    const isFull = this.#messages.length - this.#start >= this.#limits.maxMessages
    return !isFull || first === undefined || compareRefs(place, first) >= 0
  }

  /** The sequence has ended: what is in the window, in order. */
  end(): readonly StreamMessage[] {
    return this.#messages.splice(this.#start)
  }

  /**
   * The last begin with what is in the window: one message at most, and this is the one after. Of several at the place
   * where they begin some may be too many: how many, the end shows.
   */
  #isKnownFrom(message: StreamMessage): boolean {
    if (this.#messages.length - this.#start > 2) return false
    const begin = this.#begin()
    return begin !== undefined && compareRefs(message, begin) > 0
  }

  #shift(): StreamMessage | undefined {
    const message = this.#messages[this.#start]
    if (message === undefined) return undefined
    this.#start++
    this.#bytes -= message.content.length
    if (this.#start * 2 >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#start)
      this.#start = 0
    }
    return message
  }
}
