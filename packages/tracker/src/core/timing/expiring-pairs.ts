import { DelayQueue } from './delay-queue.ts'

/** A bounded set of unordered pairs, each forgotten after a fixed time. */
export class ExpiringPairs<Id extends string> {
  readonly #queue: DelayQueue<string>
  readonly #maxPairs: number

  constructor(options: { readonly lifetimeMs: number; readonly maxPairs: number }) {
    this.#queue = new DelayQueue(options.lifetimeMs)
    this.#maxPairs = options.maxPairs
  }

  get size(): number {
    return this.#queue.size
  }

  /** Adds a pair; the time of one that is already there starts anew. True when the oldest pair had to be forgotten early. */
  add(a: Id, b: Id, now: number): boolean {
    this.#forget(now)
    this.#queue.add(keyOf(a, b), now)
    if (this.#queue.size <= this.#maxPairs) return false
    this.#queue.takeOldest()
    return true
  }

  has(a: Id, b: Id, now: number): boolean {
    this.#forget(now)
    return this.#queue.size > 0 && this.#queue.has(keyOf(a, b))
  }

  #forget(now: number): void {
    while (this.#queue.takeDue(now) !== undefined);
  }
}

function keyOf(a: string, b: string): string {
  return a < b ? a + b : b + a
}
