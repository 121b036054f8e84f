import type { RunReport } from './run-report.ts'

const columns = [
  'at_s',
  'published_per_s',
  'received_per_s',
  'p50_ms',
  'p99_ms',
  'generator_cpu_percent',
  'published',
  'received',
] as const

/** A line for each second under a line of names, or how many users joined by when, where nothing was sent; what was not measured is empty. */
export function csvOf({ seconds, joinCurve }: Pick<RunReport, 'seconds' | 'joinCurve'>): string {
  if (seconds.length === 0) return textOf(['share_percent', 'join_ms'], joinCurve)
  return textOf(
    columns,
    seconds.map(({ atS, publishedPerS, receivedPerS, p50Ms, p99Ms, cpuShare, published, received }) => [
      atS,
      publishedPerS,
      receivedPerS,
      p50Ms,
      p99Ms,
      cpuShare * 100,
      published,
      received,
    ]),
  )
}

function textOf(names: readonly string[], rows: readonly (readonly (number | undefined)[])[]): string {
  return `${[names, ...rows.map((row) => row.map(cell))].map((row) => row.join(',')).join('\n')}\n`
}

function cell(value: number | undefined): string {
  return value === undefined ? '' : `${Number(value.toFixed(3))}`
}
