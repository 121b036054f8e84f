import type { Figure } from '@runnel/sim/figures'
import type { ArmFigures } from './figures.ts'

/** Pixels of a line. */
const lineStep = 19

/** CPU for each delivery of all systems, cheapest first: a dot for each of the two loads, as costs differ a thousandfold. */
export function comparisonFigure(arms: readonly ArmFigures[], perS: number): Figure {
  const loads = [
    ['as fast as it goes', (arm: ArmFigures) => arm.saturated.cpuUsPerDelivery],
    [`${perS} messages a second`, (arm: ArmFigures) => arm.paced.cpuUsPerDelivery],
  ] as const
  const sorted = arms.toSorted((a, b) => a.saturated.cpuUsPerDelivery - b.saturated.cpuUsPerDelivery)
  const values = sorted.flatMap((arm) =>
    loads.map(([load, cpuUs]) => ({ name: arm.name, load, cpuUs: cpuUs(arm) })),
  )
  const load = { field: 'load', type: 'nominal', title: null, sort: null } as const
  const isOurs = { test: "indexof(datum.label, 'runnel') === 0", value: 'bold' } as const
  return {
    name: 'comparison',
    spec: {
      title: 'µs of CPU for each message delivered, all processes of a system',
      width: 480,
      height: { step: lineStep },
      data: { values },
      mark: { type: 'point', filled: true, size: 70, opacity: 1 },
      encoding: {
        y: {
          ...{ field: 'name', type: 'nominal', title: null, sort: null },
          axis: { grid: true, labelLimit: 260, labelFontWeight: { condition: isOurs, value: 'normal' } },
        },
        x: { field: 'cpuUs', type: 'quantitative', title: 'µs', scale: { type: 'log' } },
        color: load,
        shape: load,
      },
    },
  }
}
