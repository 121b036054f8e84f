/** The value below which a share of `share` of the samples lies (nearest rank). NaN without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Rounded for people, to three significant digits or whole where larger. */
export function round(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3))
}

/** Microseconds of CPU this process has used, in all its threads. */
export function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
