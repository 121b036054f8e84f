import type { TriedLoad } from '../core/ramp.ts'
import type { Curve } from './curve.ts'
import type { Plot } from './plot.ts'
import type { RunReport } from './run-report.ts'

type Points = readonly (readonly [x: number, y: number])[]

/** Plots of a run, of those things that it measured. */
export function plotsOf({ curve, joinCurve, seconds }: RunReport): readonly Plot[] {
  const overTime = (of: (second: RunReport['seconds'][number]) => number | undefined) =>
    pointsOf(seconds.map((second) => [second.atS, of(second)]))
  const plots: readonly Plot[] = [
    curvePlot('Delays', 'share of the messages, %', curve),
    {
      ...{ title: 'Delay over time', xName: 's', yName: 'ms' },
      lines: [
        { name: 'p50', points: overTime(({ p50Ms }) => p50Ms) },
        { name: 'p99', points: overTime(({ p99Ms }) => p99Ms) },
      ],
    },
    {
      ...{ title: 'Messages a second', xName: 's', yName: '1/s' },
      lines: [
        { name: 'sent', points: overTime(({ publishedPerS }) => publishedPerS) },
        { name: 'received', points: overTime(({ receivedPerS }) => receivedPerS) },
      ],
    },
    {
      ...{ title: 'CPU time of the busiest generator, % of a core', xName: 's', yName: '%' },
      lines: [{ name: 'CPU', points: overTime(({ cpuShare }) => cpuShare * 100) }],
    },
    curvePlot('Time to join', 'share of the users, %', joinCurve),
  ]
  return plots.filter(hasLine)
}

/** Of the loads that a search tried; none where too few were measured. */
export function loadPlots(name: string, tried: readonly TriedLoad[]): readonly Plot[] {
  const sorted = tried.toSorted((a, b) => a.load - b.load)
  const points = pointsOf(sorted.map(({ load, p99Ms }) => [load, p99Ms]))
  return [{ title: 'Delay by load', xName: name, yName: 'ms', lines: [{ name: 'p99', points }] }].filter(
    hasLine,
  )
}

function curvePlot(title: string, xName: string, curve: Curve): Plot {
  return {
    ...{ title, xName, yName: 'ms' },
    // Each nine takes the same room: what matters is at the right end.
    lines: [{ name: 'time', points: curve.map(([share, ms]) => [ninesOf(share), ms] as const) }],
    xMarks: [0, 50, 90, 99, 99.9].map((share) => [ninesOf(share), `${share}`] as const),
  }
}

function pointsOf(points: readonly (readonly [x: number, y: number | undefined])[]): Points {
  return points.flatMap(([x, y]) => (y === undefined ? [] : [[x, y] as const]))
}

const hasLine = ({ lines }: Plot): boolean => lines.some(({ points }) => points.length > 1)

/** 0 for 0 %, 1 for 90 %, 2 for 99 %; the last stands at four nines. */
function ninesOf(sharePercent: number): number {
  return Math.min(4, -Math.log10(1 - sharePercent / 100))
}
