import { clientError } from '../errors.ts'

export interface QueueBudgetLimits {
  readonly maxQueuedMessages: number
  readonly maxQueuedBytes: number
}

/** What all messages that were published and not yet sent may take together. */
export class QueueBudget {
  readonly #limits: QueueBudgetLimits
  #messages = 0
  #bytes = 0
  readonly #waiting: (() => void)[] = []

  constructor(limits: QueueBudgetLimits) {
    this.#limits = limits
  }

  get messages(): number {
    return this.#messages
  }

  /** Throws PUBLISH_QUEUE_FULL. The caller must give back what it took exactly once. A single message always fits. */
  take(bytes: number): void {
    const { maxQueuedMessages, maxQueuedBytes } = this.#limits
    const full = this.#messages >= maxQueuedMessages || this.#bytes + bytes > maxQueuedBytes
    if (full && this.#messages > 0) {
      throw clientError('PUBLISH_QUEUE_FULL', `${this.#messages} messages, ${this.#bytes} bytes`)
    }
    this.#messages++
    this.#bytes += bytes
  }

  giveBack(bytes: number): void {
    this.#messages--
    this.#bytes -= bytes
    if (this.#waiting.length > 0 && this.hasRoom) for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Resolves when half of it is free. */
  async room(): Promise<void> {
    while (!this.hasRoom) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Half of it is free. */
  get hasRoom(): boolean {
    const { maxQueuedMessages, maxQueuedBytes } = this.#limits
    return this.#messages <= maxQueuedMessages / 2 && this.#bytes <= maxQueuedBytes / 2
  }
}
