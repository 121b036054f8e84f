/** A message that is to be published now. */
export interface Arrival {
  /** Index of the publisher in its ring. */
  readonly publisher: number
  /** How many it has published before. */
  readonly count: number
  /** When it should be published; its delay counts from here, however late it is. */
  readonly intendedMs: number
}

/** What is due this part of a step before the end is due at the end: not any more. */
const roundingSteps = 0.01

/**
 * Arrivals of publishers that all send at the same rate, spread evenly over the time between two messages of one. Open loop: when the next is due
 * depends on the clock alone, never on what became of those before.
 */
export class ArrivalRing {
  readonly #publishers: number
  readonly #stepMs: number
  readonly #startMs: number
  readonly #total: number
  #next = 0

  /** `phase` from 0 to 1 shifts all by that part of the time between two arrivals, so that generators do not send in step. */
  constructor(options: {
    readonly publishers: number
    readonly ratePerS: number
    readonly startMs: number
    readonly endMs: number
    readonly phase: number
  }) {
    const { publishers, ratePerS, startMs, endMs, phase } = options
    this.#publishers = publishers
    this.#stepMs = 1000 / (ratePerS * publishers)
    this.#startMs = startMs + phase * this.#stepMs
    // Of today's times a number keeps a few ten-thousandths of a millisecond only.
    this.#total = Math.ceil((endMs - this.#startMs) / this.#stepMs - roundingSteps)
  }

  /** When the next is due; infinite after the last. */
  get nextMs(): number {
    if (this.#publishers === 0 || this.#next >= this.#total) return Infinity
    return this.#startMs + this.#next * this.#stepMs
  }

  /** Takes the next arrival if it is due. */
  take(nowMs: number): Arrival | undefined {
    const intendedMs = this.nextMs
    if (intendedMs === Infinity || intendedMs > nowMs) return undefined
    const arrival = {
      publisher: this.#next % this.#publishers,
      count: Math.floor(this.#next / this.#publishers),
      intendedMs,
    }
    this.#next++
    return arrival
  }
}
