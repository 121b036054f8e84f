import { createHistogram } from 'node:perf_hooks'

/** Latencies are kept in microseconds, up to an hour; longer ones count as an hour. */
const maxLatencyUs = 3_600_000_000

/** Percentiles of latencies, in milliseconds. */
export interface LatencySummary {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** A histogram of fixed size (HdrHistogram, 3 significant digits) whatever the number of values. */
export interface LatencyHistogram {
  /** Clocks that disagree can make a latency negative: it counts as none. */
  record(latencyMs: number): void
  /** Undefined when nothing was recorded. */
  summary(): LatencySummary | undefined
}

export function createLatencyHistogram(): LatencyHistogram {
  const histogram = createHistogram({ lowest: 1, highest: maxLatencyUs, figures: 3 })
  const inMs = (us: number) => Math.round(us / 10) / 100
  return {
    record: (latencyMs) =>
      histogram.record(Math.min(maxLatencyUs, Math.max(1, Math.round(latencyMs * 1000)))),
    summary: () =>
      histogram.count === 0
        ? undefined
        : {
            p50: inMs(histogram.percentile(50)),
            p99: inMs(histogram.percentile(99)),
            max: inMs(histogram.max),
          },
  }
}
