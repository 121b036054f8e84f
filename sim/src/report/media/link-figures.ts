import { lineFigure } from '../../figures/line-figure.ts'
import type { Figure } from '../../figures/write-figures.ts'
import type { RecordRow } from '../../records/record.ts'
import { rowBars, wordOf, type Quantity } from './row-bars.ts'

const quantities: readonly Quantity[] = [
  {
    name: 'ssim',
    title: 'Likeness of what is shown to what was sent',
    yTitle: 'SSIM, 1 the same',
    parts: { '': ['ssim'] },
  },
  {
    name: 'waited',
    title: 'What pictures waited beyond the delay of the line: p50, with a tick at p95',
    yTitle: 'ms',
    parts: { '': ['waitedP50Ms', 'waitedP95Ms'] },
  },
]

/** Of rows of `emulate media-link`: quality and waiting by control, by what is beside and by delay, and the rate over time for each of these. */
export function linkFigures(name: string, rows: readonly RecordRow[]): Figure[] {
  const bars = rowBars({
    ...{ name, rows, quantities },
    seriesOf: (row) => wordOf(row, 'arm'),
    groupOf: (row) => [besideOf(row), `${wordOf(row, 'oneWayMs')} ms`],
  })
  const alike = Map.groupBy(rows, (row) => `${wordOf(row, 'beside')}-${wordOf(row, 'oneWayMs')}ms`)
  return [...bars, ...[...alike].flatMap(([end, some]) => rateFigure(`${name}-rate-${end}`, some))]
}

/** The rate of the pictures by second, and what the line carries; nothing where no row says it. */
function rateFigure(name: string, rows: readonly RecordRow[]): Figure[] {
  const [first] = rows
  const came = rows.flatMap((row) => linePoints(row['cameKbitPerS'], wordOf(row, 'arm')))
  if (first === undefined || came.length === 0) return []
  return [
    lineFigure({
      ...{ name, marks: 'dashes', xTitle: 'seconds', yTitle: 'kbit/s' },
      title: `Rate of the pictures, ${besideOf(first)}, ${wordOf(first, 'oneWayMs')} ms one way`,
      points: [...linePoints(first['lineKbitPerS'], 'the line carries'), ...came],
    }),
  ]
}

/** Of values by second. */
function linePoints(values: unknown, series: string) {
  if (!Array.isArray(values)) return []
  return values.flatMap((y: unknown, x) => (typeof y === 'number' ? [{ x, y, series }] : []))
}

const besideOf = (row: RecordRow): string => {
  const beside = wordOf(row, 'beside')
  return beside === 'alone' ? beside : `beside ${beside}`
}
