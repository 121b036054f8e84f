import hdr from 'hdr-histogram-js'
import type { Histogram } from 'hdr-histogram-js'

/** The longest delay that is told apart from longer ones: ten minutes. */
const maxUs = 600_000_000

/** Delays, to three digits, from a microsecond to ten minutes. Those of several generators can be added. */
export class DelayHistogram {
  readonly #histogram: Histogram

  constructor(encoded?: string) {
    this.#histogram =
      encoded === undefined
        ? hdr.build({
            lowestDiscernibleValue: 1,
            highestTrackableValue: maxUs,
            numberOfSignificantValueDigits: 3,
          })
        : hdr.decodeFromCompressedBase64(encoded)
  }

  /** What lies before zero, as clocks that differ make it, counts as zero. */
  add(delayMs: number): void {
    this.#histogram.recordValue(Math.min(maxUs, Math.max(0, Math.round(delayMs * 1000))))
  }

  merge(other: DelayHistogram): void {
    this.#histogram.add(other.#histogram)
  }

  reset(): void {
    this.#histogram.reset()
  }

  get count(): number {
    return this.#histogram.totalCount
  }

  get maxMs(): number {
    return this.#histogram.maxValue / 1000
  }

  get meanMs(): number {
    return this.#histogram.mean / 1000
  }

  /** `share` in percent. NaN of none. */
  percentileMs(share: number): number {
    return this.count === 0 ? Number.NaN : this.#histogram.getValueAtPercentile(share) / 1000
  }

  encode(): string {
    return hdr.encodeIntoCompressedBase64(this.#histogram)
  }
}

/** A histogram in a few figures, in milliseconds. */
export interface DelaySummary {
  readonly count: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly maxMs: number
}

/** Undefined of none. */
export function summaryOf(histogram: DelayHistogram): DelaySummary | undefined {
  if (histogram.count === 0) return undefined
  const { count, meanMs, maxMs } = histogram
  return {
    ...{ count, meanMs, maxMs },
    p50Ms: histogram.percentileMs(50),
    p90Ms: histogram.percentileMs(90),
    p95Ms: histogram.percentileMs(95),
    p99Ms: histogram.percentileMs(99),
    p999Ms: histogram.percentileMs(99.9),
  }
}
