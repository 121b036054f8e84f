import type { Figure } from '@runnel/sim/figures'
import type { Series } from './samples.ts'

const mib = 2 ** 20

/** The panels of the figure, from the top, each with an axis of its own. */
const panels = [
  { quantities: { heapBytes: '' }, title: 'Objects after collection, MiB', scale: mib },
  { quantities: { rssBytes: '' }, title: 'Resident memory, MiB', scale: mib },
  { quantities: { descriptors: '' }, title: 'Descriptors', scale: 1 },
  { quantities: { timers: '' }, title: 'Timers', scale: 1 },
  { quantities: { delayP50Ms: 'p50', delayP99Ms: 'p99' }, title: 'Delay, ms', scale: 1 },
] as const

/** Everything over time: memory, descriptors, timers, delays. */
export function soakFigure(series: readonly Series[]): Figure {
  const startMs = Math.min(...series.flatMap(({ points }) => points.map(({ atMs }) => atMs)))
  return {
    name: 'soak',
    spec: {
      vconcat: panels.map(({ quantities, title, scale }) => {
        const labels: Readonly<Record<string, string>> = quantities
        const values = series
          .filter(({ quantity }) => quantity in labels)
          .flatMap(({ process, quantity, points }) =>
            points.map(({ atMs, value }) => ({
              minutes: (atMs - startMs) / 60_000,
              value: value / scale,
              series: labels[quantity] || process,
            })),
          )
        return {
          width: 560,
          height: 110,
          data: { values },
          mark: { type: 'line' as const, strokeWidth: 1 },
          encoding: {
            x: { field: 'minutes', type: 'quantitative' as const, title: 'minutes' },
            y: { field: 'value', type: 'quantitative' as const, title },
            color: { field: 'series', type: 'nominal' as const, title: null, sort: null },
          },
        }
      }),
      resolve: { scale: { color: 'independent' } },
    },
  }
}
