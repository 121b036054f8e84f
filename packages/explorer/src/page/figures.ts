import type { Edge } from './api/answers.ts'
import { countTransports } from './transports.ts'

/** What can be said of an overlay in a few figures. */
export interface OverlayFigures {
  readonly nodes: number
  readonly edges: number
  /** The fewest and the most neighbours of a node. */
  readonly minDegree: number
  readonly maxDegree: number
  readonly nearEdges: number
  /** How many edges go by each transport, as the ends say. */
  readonly transports: readonly { readonly name: string; readonly edges: number }[]
  /** Of the edges whose round-trip times are known; null where none is. */
  readonly rtt: { readonly medianMs: number; readonly p95Ms: number; readonly measured: number } | null
}

export function figuresOf(nodes: readonly string[], edges: readonly Edge[]): OverlayFigures {
  const degrees = new Map(nodes.map((id) => [id, 0]))
  for (const id of edges.flatMap(({ a, b }) => [a, b])) degrees.set(id, (degrees.get(id) ?? 0) + 1)
  const count = (isIt: (edge: Edge) => boolean) => edges.filter(isIt).length
  const rtts = edges.flatMap(({ rttMs }) => rttMs ?? []).toSorted((a, b) => a - b)
  return {
    nodes: nodes.length,
    edges: edges.length,
    minDegree: extreme(Math.min, degrees.values()),
    maxDegree: extreme(Math.max, degrees.values()),
    nearEdges: count(({ near }) => near),
    transports: countTransports(edges).map(({ name, edges: of }) => ({ name, edges: of.length })),
    rtt:
      rtts.length === 0
        ? null
        : { medianMs: quantile(rtts, 0.5), p95Ms: quantile(rtts, 0.95), measured: rtts.length },
  }
}

/** A quantile of sorted numbers; NaN of none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export interface Bar {
  readonly fromMs: number
  readonly toMs: number
  readonly count: number
}

/** How many times lie in each of `bars` ranges, which are equal factors. */
export function histogram(timesMs: readonly number[], bars: number): Bar[] {
  if (timesMs.length === 0) return []
  const least = Math.max(
    0.1,
    timesMs.reduce((a, b) => Math.min(a, b), Infinity),
  )
  const most = Math.max(
    2 * least,
    timesMs.reduce((a, b) => Math.max(a, b), 0),
  )
  const factor = (most / least) ** (1 / bars)
  const counts = new Array<number>(bars).fill(0)
  for (const ms of timesMs) {
    const bar = Math.min(bars - 1, Math.floor(Math.log(Math.max(ms, least) / least) / Math.log(factor)))
    counts[bar] = (counts[bar] ?? 0) + 1
  }
  return counts.map((count, bar) => ({
    fromMs: least * factor ** bar,
    toMs: least * factor ** (bar + 1),
    count,
  }))
}

function extreme(choose: (a: number, b: number) => number, values: Iterable<number>): number {
  let chosen: number | undefined
  for (const value of values) chosen = chosen === undefined ? value : choose(chosen, value)
  return chosen ?? 0
}
