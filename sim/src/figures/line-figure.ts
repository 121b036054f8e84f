import type { Figure } from './write-figures.ts'

export interface LinePoint {
  readonly x: number
  readonly y: number
  readonly series: string
  /** Lines of one series that differ in this are dashed differently. */
  readonly style?: string
  /** What a band around the line reaches from and to. */
  readonly low?: number
  readonly high?: number
}

export interface LineFigureOptions {
  readonly name: string
  readonly title: string
  readonly xTitle: string
  readonly yTitle: string
  readonly xScale?: 'linear' | 'log'
  /** By what lines are told apart beside their colour. Dashes, which replace `style`, are for very many points. Default: points. */
  readonly marks?: 'points' | 'dashes'
  readonly points: readonly LinePoint[]
}

/** Lines, one colour for each series, and one shape of its points or one kind of dashes. */
export function lineFigure(options: LineFigureOptions): Figure {
  const { name, title, xTitle, yTitle, xScale = 'linear', marks = 'points', points } = options
  const scale = xScale === 'log' ? ({ type: 'log', base: 2 } as const) : ({ zero: false } as const)
  const x = { field: 'x', type: 'quantitative', title: xTitle, scale } as const
  // In the order of the data, and not as pale in the legend as the bands are.
  const legend = { symbolOpacity: 1, ...(marks === 'dashes' && { symbolType: 'stroke' }) }
  const color = { field: 'series', type: 'nominal', title: null, sort: null, legend } as const
  const styled = points.some(({ style }) => style !== undefined)
  const strokeDash = { field: 'style', type: 'nominal', title: null, sort: null } as const
  const alike = { field: 'series', type: 'nominal', title: null, sort: null, legend } as const
  const told = marks === 'points' ? { shape: alike, ...(styled && { strokeDash }) } : { strokeDash: alike }
  const yOf = (field: string) => ({ field, type: 'quantitative', title: yTitle }) as const
  return {
    name,
    spec: {
      title,
      width: 480,
      height: 300,
      data: { values: [...points] },
      layer: [
        {
          transform: [{ filter: 'isValid(datum.low)' }],
          mark: { type: 'area', opacity: 0.2 },
          encoding: { x, y: yOf('low'), y2: { field: 'high' }, color },
        },
        {
          mark: { type: 'line', point: marks === 'points' },
          encoding: { x, y: yOf('y'), color, ...told },
        },
      ],
    },
  }
}
