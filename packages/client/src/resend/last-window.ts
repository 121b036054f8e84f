import { compareRefs, type MessageRef, type StreamMessage } from '@runnel/protocol'

export interface LastWindowLimits {
  readonly maxMessages: number
  readonly maxBytes: number
}

/**
 * The last so many of a sequence whose end is not known yet. Bytes have a limit too: what goes beyond it comes out early,
 * and then there may be a few too many.
 */
export class LastWindow {
  readonly #limits: LastWindowLimits
  #messages: StreamMessage[] = []
  /** Where in `#messages` the window begins. */
  #start = 0
  #bytes = 0

  constructor(limits: LastWindowLimits) {
    this.#limits = limits
  }

  /** Returns what must go now: it is among the last for all that is known, and there is no room to wait for the rest. */
  push(message: StreamMessage): readonly StreamMessage[] {
    this.#messages.push(message)
    this.#bytes += message.content.length
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
