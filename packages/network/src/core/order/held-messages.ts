import { compareRefs, type StreamMessage } from '@runnel/protocol'

/** Messages of one chain that wait for others before them, ascending. Most come in order, at the end. */
export class HeldMessages {
  #messages: StreamMessage[] = []
  /** Those before this index were taken. */
  #start = 0

  get size(): number {
    return this.#messages.length - this.#start
  }

  get first(): StreamMessage | undefined {
    return this.#messages[this.#start]
  }

  /** False when it is there already. */
  add(message: StreamMessage): boolean {
    let low = this.#start
    let high = this.#messages.length
    const newest = this.#messages[high - 1]
    if (high === low || (newest !== undefined && compareRefs(message, newest) > 0)) {
      this.#messages.push(message)
      return true
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = compareRefs(message, this.#messages[middle] as StreamMessage)
      if (order === 0) return false
      if (order > 0) low = middle + 1
      else high = middle
    }
    this.#messages.splice(low, 0, message)
    return true
  }

  /** The first one, which must be there. */
  take(): StreamMessage {
    const message = this.#messages[this.#start++] as StreamMessage
    // Shifting an array moves all of it, so the taken half is removed in one go.
    if (this.#start * 2 >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#start)
      this.#start = 0
    }
    return message
  }
}
