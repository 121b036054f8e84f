import { limits, type Arrivals } from '@runnel/protocol'

/** Arrivals of urgent frames are reported this long after the first. */
const reportMs = 50
/** When a frame number was skipped, the next report follows the last by this: lost frames are resent. */
const missingReportMs = 20
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
  #newest = 0
  #isMissingSome = false
  #tookMs = -Infinity

  /** When a report is due; Infinity for never. */
  get dueMs(): number {
    const [first] = this.#new
    if (first === undefined) return Infinity
    if (this.#new.length >= room) return -Infinity
    const dueMs = first.atMs + reportMs
    return this.#isMissingSome ? Math.min(dueMs, Math.max(first.atMs, this.#tookMs + missingReportMs)) : dueMs
  }

  add(number: number, nowMs: number): void {
    if (number > this.#newest + 1 && this.#newest > 0) this.#isMissingSome = true
    this.#newest = Math.max(this.#newest, number)
    // Of what comes before a report was taken: no peer sends as much in a turn.
    if (this.#new.length < room) this.#new.push({ number, atMs: nowMs })
  }

  take(nowMs: number): Arrivals {
    const all = new Map([...this.#told, ...this.#new].map(({ number, atMs }) => [number, atMs]))
    const frames = [...all]
      .sort(([a], [b]) => a - b)
      .map(([number, atMs]) => ({ number, atTenthsMs: Math.round(atMs * 10) }))
    const newestMs = this.#new.at(-1)?.atMs ?? nowMs
    this.#isMissingSome = false
    this.#tookMs = nowMs
    this.#told = this.#new
    this.#new = []
    return { type: 'arrivals', heldTenthsMs: Math.round((nowMs - newestMs) * 10), frames }
  }
}
