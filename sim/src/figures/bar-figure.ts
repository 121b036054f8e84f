import type { Figure } from './write-figures.ts'

interface Bar {
  readonly x: string
  readonly y: number
  readonly series: string
}

export interface BarFigureOptions {
  readonly name: string
  readonly title: string
  readonly xTitle: string
  readonly yTitle: string
  readonly bars: readonly Bar[]
}

/** Bars in groups, one colour for each series. */
export function barFigure({ name, title, xTitle, yTitle, bars }: BarFigureOptions): Figure {
  const series = { field: 'series', type: 'nominal', title: null, sort: null } as const
  return {
    name,
    spec: {
      title,
      width: 480,
      height: 300,
      data: { values: [...bars] },
      mark: 'bar',
      encoding: {
        x: { field: 'x', type: 'nominal', title: xTitle, sort: null },
        xOffset: { field: 'series', type: 'nominal', sort: null },
        y: { field: 'y', type: 'quantitative', title: yTitle },
        color: series,
      },
    },
  }
}
