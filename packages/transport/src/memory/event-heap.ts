import type { Cancel } from '@runnel/protocol'

interface Event {
  readonly atMs: number
  readonly order: number
  fn: () => void
  cancelled: boolean
}

const nothing = (): void => {}

/** A binary heap of events by time, then by insertion. */
export class EventHeap {
  readonly #heap: Event[] = []
  #inserted = 0

  push(atMs: number, fn: () => void): Cancel {
    const event: Event = { atMs, order: this.#inserted++, fn, cancelled: false }
    this.#siftUp(event)
    return () => {
      // Stays in the heap until its time, but holds nothing.
      event.cancelled = true
      event.fn = nothing
    }
  }

  get nextAtMs(): number | undefined {
    this.#dropCancelled()
    return this.#heap[0]?.atMs
  }

  /** Takes out the next event that is due by `untilMs`. */
  popUntil(untilMs: number): { readonly atMs: number; readonly fn: () => void } | undefined {
    this.#dropCancelled()
    const first = this.#heap[0]
    if (first === undefined || first.atMs > untilMs) return undefined
    this.#removeFirst()
    return first
  }

  #dropCancelled(): void {
    while (this.#heap[0]?.cancelled) this.#removeFirst()
  }

  #siftUp(event: Event): void {
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const parentAt = (at - 1) >> 1
      const parent = heap[parentAt] as Event
      if (!isBefore(event, parent)) break
      heap[at] = parent
      at = parentAt
    }
    heap[at] = event
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const childAt = this.#earlierChild(at)
      const child = heap[childAt]
      if (child === undefined || !isBefore(child, last)) break
      heap[at] = child
      at = childAt
    }
    heap[at] = last
  }

  #earlierChild(at: number): number {
    const left = this.#heap[2 * at + 1]
    const right = this.#heap[2 * at + 2]
    return 2 * at + (left !== undefined && right !== undefined && isBefore(right, left) ? 2 : 1)
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}
