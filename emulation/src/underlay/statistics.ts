import { mean as meanOf, percentile } from '@runnel/sim/statistics'

/** The value below which that share of the samples lies (nearest rank). NaN without samples, which no comparison passes. */
export function quantile(samples: readonly number[], share: number): number {
  return percentile(samples, share) ?? NaN
}

/** NaN without samples. */
export function mean(samples: readonly number[]): number {
  return meanOf(samples) ?? NaN
}
