import { percentile } from '@runnel/sim/statistics'
import type { Series } from './samples.ts'

/** How a quantity changes, per hour: the estimate and the interval that holds it with 95 % confidence. */
export interface Trend {
  readonly process: string
  readonly quantity: string
  /** Median of what the trend was found in. */
  readonly level: number
  readonly perHour: number
  readonly lowPerHour: number
  readonly highPerHour: number
  /**
   * `grows` where even the low end is above what is tolerated, `steady` where even the high end is not; `unclear` where
   * the run was too short or too uneven to tell.
   */
  readonly verdict: 'grows' | 'steady' | 'unclear'
}

/** The first part of a run, in which caches fill, is left out. */
const warmUpShare = 0.25
/** Neighbouring samples are not independent, medians of so many blocks nearly are. */
const blocks = 12
/** Student's t for 97.5 % and ten degrees of freedom, two less than blocks. */
const student = 2.228

const mib = 2 ** 20
/** In less time a process is still compiling its code; nothing is said of growth then. */
const minSettledMs = 10 * 60_000

/** What may be gained in an hour: this share of the level, or this much. Other quantities have no trend. */
const toleratedShare = 0.05
const tolerated: Readonly<Record<string, number>> = {
  rssBytes: 4 * mib,
  heapBytes: mib,
  externalBytes: mib,
  descriptors: 2,
  timers: 2,
  listeners: 2,
  delayP50Ms: 2,
  delayP99Ms: 20,
}

/** Least squares over medians of blocks of the series; undefined with too few samples, or for what merely counts. */
export function trendOf({ process, quantity, points }: Series): Trend | undefined {
  const toleratedPerHour = tolerated[quantity]
  const settled = points.slice(Math.floor(points.length * warmUpShare))
  const [first, last] = [settled[0], settled.at(-1)]
  if (toleratedPerHour === undefined || settled.length < blocks || !first || !last) return undefined
  const medians = Array.from({ length: blocks }, (_, index) => {
    const bound = (at: number): number => Math.floor((at * settled.length) / blocks)
    const block = settled.slice(bound(index), bound(index + 1))
    return {
      hour: medianOf(block.map(({ atMs }) => atMs)) / 3_600_000,
      value: medianOf(block.map(({ value }) => value)),
    }
  })
  const { slope, error } = leastSquares(medians)
  const level = medianOf(settled.map(({ value }) => value))
  const [low, high] = [slope - student * error, slope + student * error]
  const limit = Math.max(toleratedPerHour, toleratedShare * level)
  const isLong = last.atMs - first.atMs >= minSettledMs
  const verdict = isLong && low > limit ? 'grows' : isLong && high <= limit ? 'steady' : 'unclear'
  return { process, quantity, level, perHour: slope, lowPerHour: low, highPerHour: high, verdict }
}

function leastSquares(points: readonly { readonly hour: number; readonly value: number }[]) {
  const count = points.length
  const meanOf = (pick: (point: (typeof points)[number]) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / count
  const [hour, value] = [meanOf((point) => point.hour), meanOf((point) => point.value)]
  const spread = count * meanOf((point) => (point.hour - hour) ** 2)
  const slope = (count * meanOf((point) => (point.hour - hour) * (point.value - value))) / spread
  const left = count * meanOf((point) => (point.value - value - slope * (point.hour - hour)) ** 2)
  return { slope, error: Math.sqrt(left / (count - 2) / spread) }
}

function medianOf(values: readonly number[]): number {
  return percentile(values, 0.5) ?? NaN
}
