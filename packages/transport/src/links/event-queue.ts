import type { Clock } from '@runnel/protocol'

/**
 * Calls event handlers in order, and never during a call by their owner: what happens during such a call is delivered at the
 * end of the turn, or before the next event.
 */
export class EventQueue {
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #callDepth = 0

  constructor(modules: { clock: Clock }) {
    this.#clock = modules.clock
  }

  /** Runs a call of the owner. */
  during<T>(call: () => T): T {
    this.#callDepth++
    try {
      return call()
    } finally {
      this.#callDepth--
    }
  }

  emit(event: () => void): void {
    if (this.#callDepth === 0) {
      this.#flush()
      return event()
    }
    if (this.#waiting.push(event) === 1) this.#flushLater()
  }

  #flushLater(): void {
    this.#clock.endOfTurn(() => this.#flush())
  }

  #flush(): void {
    try {
      for (let event = this.#waiting.shift(); event; event = this.#waiting.shift()) event()
    } finally {
      // What one throws reaches whoever runs the turn; those behind it have theirs.
      if (this.#waiting.length > 0) this.#flushLater()
    }
  }
}
