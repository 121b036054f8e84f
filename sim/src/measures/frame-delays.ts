import { percentile } from './statistics.ts'

/** How many frames came of those that should have, and how late: milliseconds; Infinity where none came. */
export interface FrameDelays {
  readonly expected: number
  readonly arrived: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** Of the delays of all that came. */
export function frameDelays(expected: number, delaysMs: readonly number[]): FrameDelays {
  const at = (share: number): number => percentile(delaysMs, share) ?? Infinity
  return {
    ...{ expected, arrived: delaysMs.length },
    ...{ p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: at(1) },
  }
}
