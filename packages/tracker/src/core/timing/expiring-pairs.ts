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

  /** A pair that is there already starts anew. True when the oldest pair had to go before its time. */
  add(a: Id, b: Id, nowMs: number): boolean {
    this.#forget(nowMs)
    this.#queue.add(keyOf(a, b), nowMs)
    if (this.#queue.size <= this.#maxPairs) return false
    this.#queue.takeOldest()
    return true
  }

  has(a: Id, b: Id, nowMs: number): boolean {
    this.#forget(nowMs)
    return this.#queue.size > 0 && this.#queue.has(keyOf(a, b))
  }

  #forget(nowMs: number): void {
    while (this.#queue.takeDue(nowMs) !== undefined);
  }
}

function keyOf(a: string, b: string): string {
  return a < b ? a + b : b + a
}
