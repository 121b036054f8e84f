/** Converged: no further than this from the mean delay at the end. */
const convergedShare = 0.02

/** How an overlay was at some times. */
export interface ShapeSample {
  /** Virtual seconds since the last join. */
  readonly atS: number
  readonly meanMs: number
}

/** Virtual seconds from which on the mean delay stayed within 2 % of that at the end. */
export function convergedAfterS(samples: readonly ShapeSample[]): number {
  const endMs = samples.at(-1)?.meanMs ?? Infinity
  const last = samples.findLastIndex(({ meanMs }) => Math.abs(meanMs / endMs - 1) > convergedShare)
  return samples[last + 1]?.atS ?? Infinity
}
