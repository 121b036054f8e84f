import { barFigure, type Bar } from '../../figures/bar-figure.ts'
import type { Figure } from '../../figures/write-figures.ts'
import type { RecordRow } from '../../records/record.ts'

/** What a figure shows of every row. */
export interface Quantity {
  /** The end of the file's name. */
  readonly name: string
  readonly title: string
  /** With its unit. */
  readonly yTitle: string
  /** Fields of a row, by what their group of bars is called: the bar, and ticks above it. */
  readonly parts: Readonly<Record<string, readonly [bar: string, ...ticks: string[]]>>
}

interface RowBarsOptions {
  /** The begin of the files' names. */
  readonly name: string
  readonly rows: readonly RecordRow[]
  readonly quantities: readonly Quantity[]
  /** Of a row: what its bars are called in the legend, and the lines beneath them. */
  seriesOf(row: RecordRow): string
  groupOf(row: RecordRow): readonly string[]
}

/** A figure of bars for each quantity; null and missing values have no bar, and a quantity without any has no figure. */
export function rowBars({ name, rows, quantities, seriesOf, groupOf }: RowBarsOptions): Figure[] {
  return quantities.flatMap(({ parts, ...about }) => {
    const bars = Object.entries(parts).flatMap(([part, fields]) =>
      rows.flatMap((row): Bar[] => {
        const [y, ...ticks] = fields.map((field) => row[field])
        if (typeof y !== 'number') return []
        const x = [part, ...groupOf(row)].filter((line) => line !== '').join('\n')
        return [{ x, y, series: seriesOf(row), ticks: ticks.filter((tick) => typeof tick === 'number') }]
      }),
    )
    return bars.length === 0 ? [] : [barFigure({ ...about, name: `${name}-${about.name}`, xTitle: '', bars })]
  })
}

/** A field as a word of a name; '' where it is missing. */
export function wordOf(row: RecordRow, field: string): string {
  const value = row[field]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
