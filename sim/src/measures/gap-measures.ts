import type { CounterName, NetworkNode } from '@runnel/network'
import type { GapWatch } from './gap-watch.ts'
import { percentile, round } from './statistics.ts'

/** Missing ranges, by what became of them; the nodes' own counts. */
export interface GapCounts {
  readonly opened: number
  readonly filledByPath: number
  readonly filledByNeighbour: number
  readonly filledByArchive: number
  readonly lost: number
}

export function gapCounts(nodes: readonly NetworkNode[]): GapCounts {
  const all = nodes.map((node) => node.metrics().counters)
  const count = (name: CounterName): number => all.reduce((sum, counters) => sum + (counters[name] ?? 0), 0)
  return {
    opened: count('gap.opened'),
    filledByPath: count('gap.filledByPath'),
    filledByNeighbour: count('gap.filledByNeighbour'),
    filledByArchive: count('gap.filledByArchive'),
    lost: count('gap.lost'),
  }
}

/** How long a message was missing: from the arrival of a later one to its own, as seen from outside the node. */
export interface FillTimes {
  readonly samples: number
  readonly p50Ms: number | undefined
  readonly p95Ms: number | undefined
  /** In mean round-trip times to the node's neighbours. */
  readonly p50Rtts: number | undefined
  readonly p95Rtts: number | undefined
}

export function fillTimes(watches: readonly GapWatch[]): FillTimes {
  const filled = watches.flatMap((watch) => watch.filled)
  const ms = filled.map(({ fillMs }) => fillMs)
  const rtts = filled.flatMap(({ fillMs, rttMs }) => (rttMs === undefined ? [] : [fillMs / rttMs]))
  return {
    samples: filled.length,
    p50Ms: rounded(percentile(ms, 0.5)),
    p95Ms: rounded(percentile(ms, 0.95)),
    p50Rtts: rounded(percentile(rtts, 0.5)),
    p95Rtts: rounded(percentile(rtts, 0.95)),
  }
}

function rounded(value: number | undefined): number | undefined {
  return value === undefined ? undefined : round(value)
}
