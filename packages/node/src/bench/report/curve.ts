import type { DelayHistogram } from '../load/histogram.ts'

/** Points of a distribution: share of the messages in percent, and milliseconds. */
export type Curve = readonly (readonly [share: number, ms: number])[]

/** Many where it becomes steep. */
const curveShares = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97, 98, 99, 99.5, 99.9, 99.99, 100,
]

/** Empty of none. */
export function curveOf(delays: DelayHistogram): Curve {
  return delays.count === 0 ? [] : curveShares.map((share) => [share, delays.percentileMs(share)] as const)
}
