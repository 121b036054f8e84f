import { firstIndex } from '@runnel/protocol'

interface Item<T> {
  readonly value: T
  readonly bytes: number
}

/** First in, first out, or in an order of its own, with the bytes of all that is in it. */
export class ByteQueue<T> {
  #items: Item<T>[] = []
  /** Index in `#items` of the first item not taken yet. */
  #start = 0
  #bytes = 0

  get length(): number {
    return this.#items.length - this.#start
  }

  get bytes(): number {
    return this.#bytes
  }

  get first(): T | undefined {
    return this.#items[this.#start]?.value
  }

  push(value: T, bytes: number): void {
    this.#items.push({ value, bytes })
    this.#bytes += bytes
  }

  /** Puts it before the first that is after it, where all are in order. */
  insert(value: T, bytes: number, isAfter: (other: T) => boolean): void {
    this.#items.splice(this.#indexOfFirst(isAfter), 0, { value, bytes })
    this.#bytes += bytes
  }

  /** Those before the first that is after something, where all are in order; the last one first. */
  *backFrom(isAfter: (other: T) => boolean): Iterable<T> {
    for (let i = this.#indexOfFirst(isAfter) - 1; i >= this.#start; i--)
      yield (this.#items[i] as Item<T>).value
  }

  /** Takes the first one out. */
  shift(): T | undefined {
    const item = this.#items[this.#start]
    if (item === undefined) return undefined
    this.#start++
    this.#bytes -= item.bytes
    // Shifting an array moves all of it, so the taken half is removed at once.
    if (this.#start * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#start)
      this.#start = 0
    }
    return item.value
  }

  /** Takes all out. */
  takeAll(): T[] {
    const values = this.#items.slice(this.#start).map(({ value }) => value)
    this.#items = []
    this.#start = 0
    this.#bytes = 0
    return values
  }

  #indexOfFirst(isAfter: (other: T) => boolean): number {
    return firstIndex(this.#items, ({ value }) => isAfter(value), this.#start)
  }
}
