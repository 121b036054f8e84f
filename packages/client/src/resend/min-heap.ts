/** A binary heap: the least item is at hand. */
export class MinHeap<T> {
  readonly #compare: (a: T, b: T) => number
  readonly #items: T[] = []

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  /** All items, in no order. */
  get items(): readonly T[] {
    return this.#items
  }

  get least(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    let at = this.#items.length
    this.#items.push(item)
    while (at > 0) {
      const parent = (at - 1) >>> 1
      if (this.#compare(this.#at(at), this.#at(parent)) >= 0) return
      this.#swap(at, parent)
      at = parent
    }
  }

  /** Takes the least item out. */
  pop(): T | undefined {
    const least = this.#items[0]
    const last = this.#items.pop()
    if (last !== undefined && this.#items.length > 0) {
      this.#items[0] = last
      this.settleLeast()
    }
    return least
  }

  /** The least item has grown: puts it where it belongs. */
  settleLeast(): void {
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      if (left >= this.#items.length) return
      const right = left + 1
      const isRightLess = right < this.#items.length && this.#compare(this.#at(right), this.#at(left)) < 0
      const child = isRightLess ? right : left
      if (this.#compare(this.#at(child), this.#at(at)) >= 0) return
      this.#swap(at, child)
      at = child
    }
  }

  #at(index: number): T {
    return this.#items[index] as T
  }

  #swap(a: number, b: number): void {
    const item = this.#at(a)
    this.#items[a] = this.#at(b)
    this.#items[b] = item
  }
}
