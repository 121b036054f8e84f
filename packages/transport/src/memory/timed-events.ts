import TinyQueue from 'tinyqueue'

/** Something to do at a time, unless it is cancelled. */
export interface TimedEvent {
  readonly atMs: number
  readonly order: number
  fn: () => void
}

/** What cancelled events do. */
const nothing = (): void => {}

/** Events that are due later wait unordered in buckets of this length. */
const bucketMs = 1

/**
 * Events by time, then by insertion. Only those of the next millisecond are in a queue: one of all events, of which a large network has millions,
 * would be walked through memory for each of them.
 */
export class TimedEvents {
  /** Those of the bucket that was opened last, and what came since and is due no later. */
  #soon = new TinyQueue<TimedEvent>([], compareEvents)
  #openBucket = -Infinity
  /** All others. */
  readonly #later = new Map<number, TimedEvent[]>()
  readonly #laterBuckets = new TinyQueue<number>()
  #inserted = 0

  push(atMs: number, fn: () => void): TimedEvent {
    const event: TimedEvent = { atMs, order: this.#inserted++, fn }
    const bucket = Math.floor(atMs / bucketMs)
    if (bucket <= this.#openBucket) this.#soon.push(event)
    else this.#addTo(bucket, event)
    return event
  }

  /** It stays until its time, but holds nothing. */
  static cancel(event: TimedEvent): void {
    event.fn = nothing
  }

  get nextAtMs(): number | undefined {
    return this.#next()?.atMs
  }

  /** Takes out the next event that is due by `untilMs`. */
  popUntil(untilMs: number): TimedEvent | undefined {
    const next = this.#next()
    return next === undefined || next.atMs > untilMs ? undefined : this.#soon.pop()
  }

  #addTo(bucket: number, event: TimedEvent): void {
    const events = this.#later.get(bucket)
    if (events !== undefined) return void events.push(event)
    this.#later.set(bucket, [event])
    this.#laterBuckets.push(bucket)
  }

  /** The next event; cancelled ones before it are dropped. */
  #next(): TimedEvent | undefined {
    do {
      while (this.#soon.peek()?.fn === nothing) this.#soon.pop()
      const next = this.#soon.peek()
      if (next !== undefined) return next
    } while (this.#openNext())
    return undefined
  }

  #openNext(): boolean {
    const bucket = this.#laterBuckets.pop()
    if (bucket === undefined) return false
    const events = this.#later.get(bucket) ?? []
    this.#later.delete(bucket)
    this.#openBucket = bucket
    this.#soon = new TinyQueue(
      events.filter(({ fn }) => fn !== nothing),
      compareEvents,
    )
    return true
  }
}

// Not by subtraction: it is not a number for two events at Infinity.
function compareEvents(a: TimedEvent, b: TimedEvent): number {
  if (a.atMs === b.atMs) return a.order - b.order
  return a.atMs < b.atMs ? -1 : 1
}
