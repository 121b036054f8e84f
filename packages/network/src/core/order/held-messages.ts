import { compareRefs, firstIndex, type StreamMessage } from '@runnel/protocol'

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
    const newest = this.size === 0 ? undefined : this.#messages.at(-1)
    if (newest === undefined || compareRefs(message, newest) > 0) {
      this.#messages.push(message)
      return true
    }
    const at = firstIndex(this.#messages, (other) => compareRefs(other, message) >= 0, this.#start)
    if (compareRefs(this.#messages[at] as StreamMessage, message) === 0) return false
    this.#messages.splice(at, 0, message)
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
