/**
 * Keys that are due a fixed time after they were added. The delay is the same for all, so they are due in the order in which
 * they were added, and a Map is sufficient. Every operation takes O(1) on average.
 */
export class DelayQueue<Key> {
  readonly #delayMs: number
  readonly #dueAt = new Map<Key, number>()
  // The iterator is kept: a new one would walk over the places of all deleted keys again.
  #walk = this.#dueAt.entries()
  #head: readonly [Key, number] | undefined

  constructor(delayMs: number) {
    this.#delayMs = delayMs
  }

  get size(): number {
    return this.#dueAt.size
  }

  /** When the first one is due; undefined when there is none. */
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

  /** Removes the oldest, due or not. */
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
