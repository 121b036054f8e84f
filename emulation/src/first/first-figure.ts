import type { Figure } from '@runnel/sim/figures'
import type { Goal } from './first-plan.ts'
import type { FirstRow } from './first-rows.ts'

/** A box for each way and start: quartiles, whiskers to 1.5 times their distance, and every value as a point. */
export function firstFigure(name: string, goal: Goal, rows: readonly FirstRow[]): Figure {
  const values = rows
    .filter(({ firstMs }) => firstMs !== null)
    .map(({ arm, start, firstMs }) => ({ kind: `${arm}, ${start}`, firstMs }))
  const kinds = [...new Set(values.map(({ kind }) => kind))]
  const x = { field: 'kind', type: 'nominal', title: null, sort: kinds, axis: { labelAngle: 0 } } as const
  const y = { field: 'firstMs', type: 'quantitative', title: 'ms' } as const
  return {
    name,
    spec: {
      title: `From the start to the first ${goal}`,
      width: 640,
      height: 300,
      data: { values },
      layer: [
        { mark: { type: 'boxplot', extent: 1.5, outliers: false, size: 40 }, encoding: { x, y } },
        { mark: { type: 'point', opacity: 0.4, size: 12, color: 'black' }, encoding: { x, y } },
      ],
    },
  }
}
