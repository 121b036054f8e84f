import type { Figure } from '@runnel/sim/figures'
import type { FillPoint } from './fill-machine.ts'
import type { SessionArm } from './session-plan.ts'

export interface ArmPoint extends FillPoint {
  readonly arm: SessionArm
  readonly members: number
}

const panels = [
  { field: 'cpuPercent', title: 'processors, %' },
  { field: 'memoryMiB', title: 'memory, MiB' },
] as const

/** What a machine uses against its users, a column for each size of session, as figure 9 of source 003. */
export function sessionsFigure(name: string, points: readonly ArmPoint[]): Figure {
  const sizes = [...new Set(points.map(({ members }) => members))].toSorted((a, b) => a - b)
  const color = { field: 'arm', type: 'nominal', title: null, sort: null } as const
  return {
    name,
    spec: {
      data: { values: points.map((point) => ({ ...point })) },
      vconcat: panels.map(({ field, title }) => ({
        hconcat: sizes.map((size) => ({
          title: `${size} a session`,
          ...{ width: 210, height: 160 },
          transform: [{ filter: `datum.members == ${size}` }],
          mark: { type: 'line' as const, point: true },
          encoding: {
            x: { field: 'users', type: 'quantitative' as const, title: 'users' },
            y: { field, type: 'quantitative' as const, title },
            color,
          },
        })),
      })),
    },
  }
}

/** Every point on a line. */
export function sessionsCsv(points: readonly ArmPoint[]): string {
  const [first] = points
  if (first === undefined) return ''
  const columns = Object.keys(first) as (keyof ArmPoint)[]
  const lines = points.map((point) => columns.map((column) => point[column]).join(','))
  return [columns.join(','), ...lines, ''].join('\n')
}
