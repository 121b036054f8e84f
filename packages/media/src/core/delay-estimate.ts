/** Delays over which the spread is measured: five seconds of sound. */
const maxSamples = 250
/** All but one in twenty come within the target. */
const share = 0.95
/** Sorting takes time. */
const sortedEvery = 10

/**
 * How much the way of a member's frames varies: each one's arrival minus its timestamp, compared with the quickest of the last 250. The clocks
 * of both sides need not agree, and may drift.
 */
export class DelayEstimate {
  readonly #samples: number[] = []
  #next = 0
  #lastMs: number | undefined
  #jitterMs = 0
  #baseMs = 0
  #spreadMs = 0
  #sinceSorted = 0

  add(timestampMs: number, nowMs: number): void {
    const delayMs = nowMs - timestampMs
    if (this.#lastMs !== undefined) this.#jitterMs += (Math.abs(delayMs - this.#lastMs) - this.#jitterMs) / 16
    this.#lastMs = delayMs
    this.#samples[this.#next] = delayMs
    this.#next = (this.#next + 1) % maxSamples
    this.#baseMs = this.#samples.length === 1 ? delayMs : Math.min(this.#baseMs, delayMs)
    this.#sinceSorted++
    if (this.#samples.length < sortedEvery || this.#sinceSorted === sortedEvery) this.#sort()
  }

  get isEmpty(): boolean {
    return this.#samples.length === 0
  }

  /** What added to a timestamp is the arrival of a frame that comes as quickly as any did. */
  get baseMs(): number {
    return this.#baseMs
  }

  /** Interarrival jitter (RFC 3550, section 6.4.1). */
  get jitterMs(): number {
    return this.#jitterMs
  }

  /** How long after the quickest 95 % of frames come. */
  get spreadMs(): number {
    return this.#spreadMs
  }

  /** Forgets all: the member began anew. */
  reset(): void {
    this.#samples.length = 0
    this.#next = 0
    this.#lastMs = undefined
  }

  #sort(): void {
    const sorted = [...this.#samples].sort((a, b) => a - b)
    this.#baseMs = sorted[0] ?? 0
    this.#spreadMs = (sorted[Math.ceil(sorted.length * share) - 1] ?? 0) - this.#baseMs
    this.#sinceSorted = 0
  }
}
