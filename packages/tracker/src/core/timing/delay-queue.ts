/**
 * Keys that fall due a fixed time after they were added. The delay being the same for all, they fall due in the order
 * in which they were added, and a Map is all the queue that is needed. Every operation takes O(1) on average.
 */
export class DelayQueue<Key> {
  readonly #delayMs: number
  readonly #dueAt = new Map<Key, number>()
  // A Map's iterator is kept, for a new one would walk over all the places of deleted keys again.
  #walk = this.#dueAt.entries()
  #head: readonly [Key, number] | undefined

  constructor(delayMs: number) {
    this.#delayMs = delayMs
  }

  get size(): number {
    return this.#dueAt.size
  }

  /** When the first falls due; undefined when there is none. */
  get nextAt(): number | undefined {
    return this.#first()?.[1]
  }

  /** A key that is there already starts anew. */
  add(key: Key, nowMs: number): void {
    this.#dueAt.delete(key)
    this.#dueAt.set(key, nowMs + this.#delayMs)
  }

  has(key: Key): boolean {
    return this.#dueAt.has(key)
  }

  delete(key: Key): boolean {
    return this.#dueAt.delete(key)
  }

  /** Takes out the oldest that is due. */
  takeDue(nowMs: number): Key | undefined {
    const first = this.#first()
    return first !== undefined && first[1] <= nowMs ? this.takeOldest() : undefined
  }

  /** Takes out the oldest, due or not. */
  takeOldest(): Key | undefined {
    const first = this.#first()
    if (first !== undefined) this.#dueAt.delete(first[0])
    return first?.[0]
  }

  #first(): readonly [Key, number] | undefined {
    while (this.#head === undefined || this.#dueAt.get(this.#head[0]) !== this.#head[1]) {
      const step = this.#walk.next()
      if (!step.done) {
        this.#head = step.value
      } else {
        this.#walk = this.#dueAt.entries()
        this.#head = undefined
        if (this.#dueAt.size === 0) break
      }
    }
    return this.#head
  }
}
