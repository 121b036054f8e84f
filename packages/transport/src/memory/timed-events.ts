import type { Cancel } from '@runnel/protocol'
import TinyQueue from 'tinyqueue'

interface Event {
  readonly atMs: number
  readonly order: number
  fn: () => void
  cancelled: boolean
}

const nothing = (): void => {}

/** Events by time, then by insertion. */
export class TimedEvents {
  readonly #events = new TinyQueue<Event>([], compareEvents)
  #inserted = 0

  push(atMs: number, fn: () => void): Cancel {
    const event: Event = { atMs, order: this.#inserted++, fn, cancelled: false }
    this.#events.push(event)
    return () => {
      // Stays in the queue until its time, but holds nothing.
      event.cancelled = true
      event.fn = nothing
    }
  }

  get nextAtMs(): number | undefined {
    return this.#next()?.atMs
  }

  /** Takes out the next event that is due by `untilMs`. */
  popUntil(untilMs: number): { readonly atMs: number; readonly fn: () => void } | undefined {
    const next = this.#next()
    return next === undefined || next.atMs > untilMs ? undefined : this.#events.pop()
  }

  /** The next event; cancelled ones before it are dropped. */
  #next(): Event | undefined {
    while (this.#events.peek()?.cancelled) this.#events.pop()
    return this.#events.peek()
  }
}

// Not by subtraction: it is not a number for two events at Infinity.
function compareEvents(a: Event, b: Event): number {
  if (a.atMs === b.atMs) return a.order - b.order
  return a.atMs < b.atMs ? -1 : 1
}
