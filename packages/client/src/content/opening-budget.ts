import type { BoundedQueueLimits } from '../queue/bounded-queue.ts'

/** What messages that wait to be opened, or for one of their chain, may take together: items, and bytes of their sealed content. */
export class OpeningBudget {
  readonly #limits: BoundedQueueLimits
  #items = 0
  #bytes = 0
  readonly #waiting: (() => void)[] = []

  constructor(limits: BoundedQueueLimits) {
    this.#limits = limits
  }

  /** More is taken than may be. */
  get isOver(): boolean {
    return this.#items > this.#limits.maxItems || this.#bytes > this.#limits.maxBytes
  }

  take(bytes: number): void {
    this.#items++
    this.#bytes += bytes
  }

  giveBack(bytes: number): void {
    this.#items--
    this.#bytes -= bytes
    if (this.#hasRoom) for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Resolves when half of it is free, for callers that can wait before they take more. */
  async room(): Promise<void> {
    while (!this.#hasRoom) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  get #hasRoom(): boolean {
    return this.#items * 2 <= this.#limits.maxItems && this.#bytes * 2 <= this.#limits.maxBytes
  }
}
