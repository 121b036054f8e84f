import type { Figure } from '@runnel/sim/figures'
import type { FirstRow } from './first-rows.ts'

/** A box for each way and start: quartiles, whiskers to 1.5 times their distance, and every value as a point. */
export function firstFigure(name: string, rows: readonly FirstRow[]): Figure {
  const values = rows
    .filter(({ messageMs }) => messageMs !== null)
    .map(({ arm, start, messageMs }) => ({ kind: `${arm}, ${start}`, messageMs }))
  const kinds = [...new Set(values.map(({ kind }) => kind))]
  const x = { field: 'kind', type: 'nominal', title: null, sort: kinds, axis: { labelAngle: 0 } } as const
  const y = { field: 'messageMs', type: 'quantitative', title: 'ms' } as const
  return {
    name,
    spec: {
      title: 'From the start to the first message',
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
