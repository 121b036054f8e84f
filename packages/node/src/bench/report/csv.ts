import type { SecondFigures } from '../load/seconds.ts'

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

/** A line for each second, under a line of names; what was not measured is empty. */
export function csvOf(seconds: readonly SecondFigures[]): string {
  const lines = seconds.map(({ atS, publishedPerS, receivedPerS, p50Ms, p99Ms, cpuShare, ...counts }) =>
    [atS, publishedPerS, receivedPerS, p50Ms, p99Ms, cpuShare * 100, counts.published, counts.received]
      .map(cell)
      .join(','),
  )
  return `${[columns.join(','), ...lines].join('\n')}\n`
}

function cell(value: number | undefined): string {
  return value === undefined ? '' : `${Number(value.toFixed(3))}`
}
