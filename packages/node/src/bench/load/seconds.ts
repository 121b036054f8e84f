import { DelayHistogram } from './histogram.ts'
import type { LoadSample } from './generator.ts'

/** How a run was doing in about a second. */
export interface SecondFigures {
  /** When it ended, since the start of sending. */
  readonly atS: number
  readonly published: number
  readonly received: number
  readonly publishedPerS: number
  readonly receivedPerS: number
  /** Undefined where nothing came. */
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
  /** Of the busiest generator, as a share of one core. */
  readonly cpuShare: number
}

/** The samples of all generators as one, over the time since the one before. A few messages in part of a second are no high rate: it counts as a whole one. */
export function mergeSamples(samples: readonly LoadSample[], atS: number, overS: number): SecondFigures {
  const delays = new DelayHistogram()
  for (const sample of samples) delays.merge(new DelayHistogram(sample.delays))
  const sum = (of: (sample: LoadSample) => number) => samples.reduce((all, sample) => all + of(sample), 0)
  const [published, received] = [sum((sample) => sample.published), sum((sample) => sample.received)]
  const rateOf = (count: number) => count / Math.max(1, overS)
  return {
    ...{ atS, published, received, publishedPerS: rateOf(published), receivedPerS: rateOf(received) },
    p50Ms: delays.count === 0 ? undefined : delays.percentileMs(50),
    p99Ms: delays.count === 0 ? undefined : delays.percentileMs(99),
    cpuShare: Math.max(0, ...samples.map(({ cpuShare }) => cpuShare)),
  }
}
