/** What one neighbour is to be told with the next digest, the oldest first: digests are some time apart. */
export class DigestQueue<E> {
  readonly #intervalMs: number
  readonly #entries: E[] = []
  #toldMs = -Infinity
  #dueMs = Infinity

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  get size(): number {
    return this.#entries.length
  }

  /** When the next digest is due. */
  get dueMs(): number {
    return this.#dueMs
  }

  /** Adds to the next digest, which may wait for so long for more. */
  add(entry: E, nowMs: number, waitMs = 1): void {
    this.#entries.push(entry)
    this.#dueMs = Math.min(this.#dueMs, Math.max(nowMs + waitMs, this.#toldMs + this.#intervalMs))
  }

  /** What the next digest tells, at most so much. */
  take(nowMs: number, max: number): readonly E[] {
    if (this.#entries.length === 0) return []
    this.#toldMs = nowMs
    const entries = this.#entries.splice(0, max)
    this.#dueMs = this.#entries.length > 0 ? nowMs + 1 : Infinity
    return entries
  }
}
