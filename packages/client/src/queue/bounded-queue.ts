import { ByteQueue } from './byte-queue.ts'

export interface BoundedQueueLimits {
  readonly maxItems: number
  readonly maxBytes: number
}

/**
 * A queue between a producer that cannot wait and a consumer that may be slow. At a limit the oldest items are dropped, so that
 * the newest stay, in order.
 */
export class BoundedQueue<T> {
  readonly #limits: BoundedQueueLimits
  readonly #items = new ByteQueue<{ readonly value: T }>()
  #closed = false
  readonly #producers: (() => void)[] = []
  readonly #waiting: ((result: IteratorResult<T, undefined>) => void)[] = []

  constructor(limits: BoundedQueueLimits) {
    this.#limits = limits
  }

  get length(): number {
    return this.#items.length
  }

  /** Adds an item, unless closed. Returns how many old items had to go; an item above the limit by itself stays alone. */
  push(value: T, bytes: number): number {
    if (this.#closed) return 0
    const consumer = this.#waiting.shift()
    if (consumer !== undefined) {
      consumer({ done: false, value })
      return 0
    }
    this.#items.push({ value }, bytes)
    let dropped = 0
    while (
      this.length > 1 &&
      (this.length > this.#limits.maxItems || this.#items.bytes > this.#limits.maxBytes)
    ) {
      this.#take()
      dropped++
    }
    return dropped
  }

  /** The next item, waiting for it if need be; done when closed and empty. */
  next(): Promise<IteratorResult<T, undefined>> {
    const item = this.#take()
    if (item !== undefined) return Promise.resolve({ done: false, value: item.value })
    if (this.#closed) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Resolves when it is at most half full, or closed: for producers that can wait. */
  async room(): Promise<void> {
    while (!this.#closed && !this.#isHalfEmpty) {
      await new Promise<void>((resolve) => this.#producers.push(resolve))
    }
  }

  get #isHalfEmpty(): boolean {
    const { maxItems, maxBytes } = this.#limits
    return this.length * 2 <= maxItems && this.#items.bytes * 2 <= maxBytes
  }

  #wakeProducers(): void {
    for (const wake of this.#producers.splice(0)) wake()
  }

  /** Ends the input; queued items can still be taken. Idempotent. */
  close(): void {
    this.#closed = true
    this.#wakeProducers()
    for (const consumer of this.#waiting.splice(0)) consumer({ done: true, value: undefined })
  }

  #take(): { readonly value: T } | undefined {
    const item = this.#items.shift()
    if (item !== undefined && this.#producers.length > 0 && this.#isHalfEmpty) this.#wakeProducers()
    return item
  }
}
