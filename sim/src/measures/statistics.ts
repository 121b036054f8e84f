/** The value below which a share of `share` of the samples lies (nearest rank); undefined without samples. */
export function percentile(samples: readonly number[], share: number): number | undefined {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]
}

export function mean(samples: readonly number[]): number | undefined {
  return samples.length === 0 ? undefined : samples.reduce((sum, sample) => sum + sample, 0) / samples.length
}

/** Of the mean of samples, to two decimals; null for fewer than two. */
export function standardError(samples: readonly number[]): number | null {
  const middle = mean(samples)
  if (middle === undefined || samples.length < 2) return null
  const squares = samples.reduce((sum, sample) => sum + (sample - middle) ** 2, 0)
  return round(Math.sqrt(squares / (samples.length - 1) / samples.length))
}

/** The values at 0 %, 1 % … 100 % of samples in ascending order (nearest rank), to two decimals; 0 without samples. */
export function hundredths(sorted: ArrayLike<number>): number[] {
  return Array.from({ length: 101 }, (_, percent) =>
    round(sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0),
  )
}

/** To two decimals, for people. */
export function round(value: number): number {
  return Math.round(value * 100) / 100
}
