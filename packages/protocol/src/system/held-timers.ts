import type { Cancel, Clock } from '../ports.ts'

/** A call that is so late no longer waits for its timer: browsers hold back those of a page that nobody sees to one a second, then to one a minute. */
const maxLateMs = 1_000

interface Held {
  readonly dueMs: number
  readonly call: () => void
}

/** What a page has scheduled. It gets what others send it as ever, and can then make up for timers that are held back. */
export class HeldTimers {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'endOfTurn'>
  readonly #held = new Set<Held>()
  #lookedMs = -Infinity

  constructor(modules: { readonly clock: Pick<Clock, 'monotonicMs' | 'endOfTurn'> }) {
    this.#clock = modules.clock
  }

  /** Until it is cancelled, which whoever calls it does. */
  add(delayMs: number, call: () => void): Cancel {
    const held = { dueMs: this.#clock.monotonicMs() + delayMs, call }
    this.#held.add(held)
    return () => void this.#held.delete(held)
  }

  /** Calls at the end of the turn what should have been called long ago. Looks once a second at most. */
  catchUp(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#lookedMs < maxLateMs) return
    this.#lookedMs = nowMs
    const late = [...this.#held].filter(({ dueMs }) => nowMs - dueMs >= maxLateMs)
    for (const held of late.sort((a, b) => a.dueMs - b.dueMs))
      this.#clock.endOfTurn(() => {
        if (this.#held.has(held)) held.call()
      })
  }
}
