import { limits, type Arrivals } from '@runnel/protocol'

/** The arrivals of urgent frames are told so long after the first. */
const reportMs = 50
/** Half of what a report has room for, as each arrival is told twice. */
const room = limits.maxArrivals / 2

interface Arrival {
  readonly number: number
  readonly atMs: number
}

/** When frames of a peer came that carry a mark, until the peer is told. */
export class ArrivalLog {
  #new: Arrival[] = []
  /** Told once. */
  #told: Arrival[] = []

  /** When a report is due; Infinity for never. */
  get dueMs(): number {
    const [first] = this.#new
    if (first === undefined) return Infinity
    return this.#new.length >= room ? -Infinity : first.atMs + reportMs
  }

  add(number: number, nowMs: number): void {
    // Of what comes before a report was taken: no peer sends as much in a turn.
    if (this.#new.length < room) this.#new.push({ number, atMs: nowMs })
  }

  take(nowMs: number): Arrivals {
    const all = new Map([...this.#told, ...this.#new].map(({ number, atMs }) => [number, atMs]))
    const frames = [...all]
      .sort(([a], [b]) => a - b)
      .map(([number, atMs]) => ({ number, atTenthsMs: Math.round(atMs * 10) }))
    const newestMs = this.#new.at(-1)?.atMs ?? nowMs
    this.#told = this.#new
    this.#new = []
    return { type: 'arrivals', heldTenthsMs: Math.round((nowMs - newestMs) * 10), frames }
  }
}
