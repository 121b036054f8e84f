interface Item<T> {
  readonly value: T
  readonly bytes: number
}

/** First in, first out, with the bytes of all that is in it. */
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
}
