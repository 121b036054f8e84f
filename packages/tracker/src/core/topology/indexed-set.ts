/** A set whose elements also have a position, so that adding, deleting and random draws are all O(1). */
export class IndexedSet<T extends string | object> {
  readonly #items: T[] = []
  readonly #positions = new Map<T, number>()

  get size(): number {
    return this.#items.length
  }

  has(item: T): boolean {
    return this.#positions.has(item)
  }

  /** The element now at `position`, 0 ≤ position < size. Positions move when elements are deleted. */
  at(position: number): T {
    const item = this.#items[position]
    if (item === undefined) throw new RangeError(`no element at position ${position} of ${this.size}`)
    return item
  }

  add(item: T): void {
    if (this.#positions.has(item)) return
    this.#positions.set(item, this.#items.length)
    this.#items.push(item)
  }

  /** Removes `item`; the last element moves into its place. */
  delete(item: T): void {
    const position = this.#positions.get(item)
    const last = this.#items.at(-1)
    if (position === undefined || last === undefined) return
    this.#items[position] = last
    this.#positions.set(last, position)
    this.#items.pop()
    this.#positions.delete(item)
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.values()
  }
}

export type ReadonlyIndexedSet<T extends string | object> = Omit<IndexedSet<T>, 'add' | 'delete'>
