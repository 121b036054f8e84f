import { lineFigure, type LinePoint } from '../figures/line-figure.ts'
import type { Figure } from '../figures/write-figures.ts'
import type { ExperimentRecord, RecordRow } from '../records/record.ts'
import { mean } from '../measures/statistics.ts'
import { mediaFigures } from './media/index.ts'
import { cellOf, textTable } from './text-table.ts'

/** A record and what it is called in tables and figures. */
export interface NamedRecord {
  readonly name: string
  readonly record: ExperimentRecord
}

/** Fields by which rows of one record differ: each combination is a line of its own in a figure. */
const kinds = ['links', 'overlay', 'latency', 'underlay', 'degree', 'dilation']
/** For numeric values: they need their names. */
const numbers = ['degree', 'dilation']

const xTitles: Partial<Record<string, string>> = { lossPercent: 'packets lost, %' }

/** What is drawn and tabulated of an experiment; of any other all scalars are tabulated, and only `drawers` draw. */
const views: Partial<Record<string, View>> = {
  propagation: {
    x: 'nodes',
    y: {
      meanMs: ['Mean propagation delay', 'ms'],
      p99Ms: ['p99 of propagation delay', 'ms'],
      estimatedMeanMs: ['Estimated mean propagation delay', 'ms'],
      rdp: ['Relative delay penalty', ''],
    },
    columns: [
      'nodes',
      'overlay',
      'latency',
      'meanMs',
      'estimatedMeanMs',
      'mapePercent',
      'p99Ms',
      'rdp',
      'meanHops',
      'links',
      'dilation',
      'simulatedMeanMs',
      'simulatedOffPercent',
    ],
  },
  redundancy: {
    x: 'degree',
    y: { duplicatesPerMessage: ['Duplicates per message', ''] },
    columns: ['nodes', 'links', 'degree', 'duplicatesPerMessage', 'meanMs', 'missing'],
  },
  loss: {
    x: 'lossPercent',
    y: { meanMs: ['Mean delay', 'ms'], p99Ms: ['p99 of delay', 'ms'] },
    columns: [
      'nodes',
      'links',
      'dilation',
      'lossPercent',
      'repeat',
      'meanMs',
      'p99Ms',
      'expected',
      'missing',
    ],
  },
  diameter: {
    x: 'nodes',
    y: { diameter: ['Diameter', 'hops'] },
    columns: ['nodes', 'degree', 'lowerBound', 'diameter', 'upperBound'],
  },
}

/** What draws all rows of an experiment. */
const drawers: Partial<Record<string, (name: string, rows: readonly RecordRow[]) => Figure[]>> = mediaFigures

/** Experiments of which figures are drawn. */
export const drawnExperiments: readonly string[] = [...Object.keys(views), ...Object.keys(drawers)]

interface View {
  readonly x: string
  /** Fields that are drawn, each in a figure of its own, with its title and their unit. */
  readonly y: Readonly<Record<string, readonly [title: string, unit: string]>>
  readonly columns: readonly string[]
}

/** Records of each experiment side by side, as a table and as figures; names the experiments of which there are none. */
export function reportRecords(records: readonly NamedRecord[]): {
  text: string
  figures: Figure[]
  undrawn: string[]
} {
  const byExperiment = Map.groupBy(records, ({ record }) => record.experiment)
  const texts = [...byExperiment].map(([experiment, some]) => `${experiment}\n${tabulate(experiment, some)}`)
  const figures = [...byExperiment].flatMap(([experiment, some]) => draw(experiment, some))
  const undrawn = [...byExperiment.keys()].filter((experiment) => !drawnExperiments.includes(experiment))
  return { text: texts.join('\n\n'), figures, undrawn }
}

function tabulate(experiment: string, records: readonly NamedRecord[]): string {
  const columns = views[experiment]?.columns ?? scalarFields(records)
  const rows = records.flatMap(({ name, record }) =>
    record.rows.map((row) => [name, ...columns.map((column) => cellOf(row[column]))]),
  )
  return textTable(['record', ...columns], rows)
}

function scalarFields(records: readonly NamedRecord[]): string[] {
  const fields = records.flatMap(({ record }) =>
    record.rows.flatMap((row) => Object.keys(row).filter((field) => cellOf(row[field]) !== undefined)),
  )
  return [...new Set(fields)]
}

function draw(experiment: string, records: readonly NamedRecord[]): Figure[] {
  const view = views[experiment]
  const drawer = drawers[experiment]
  if (drawer !== undefined) return drawer(`report-${experiment}`, armsOf(records))
  if (view === undefined) return []
  const { x: xField, y: yFields } = view
  return Object.entries(yFields).map(([yField, [title, unit]]) => {
    const points = records.flatMap(({ name, record }) =>
      record.rows.flatMap((row): LinePoint[] => {
        const [x, y] = [row[xField], row[yField]]
        if (typeof x !== 'number' || typeof y !== 'number') return []
        return [{ x, y, series: [...new Set([name, ...kindsOf(row, xField)])].join(', ') }]
      }),
    )
    return lineFigure({
      name: `report-${experiment}-${yField}`,
      title,
      xTitle: xTitles[xField] ?? xField,
      yTitle: unit,
      ...(xField === 'nodes' && { xScale: 'log' }),
      points: averaged(points),
    })
  })
}

/** Fields that tell the runs of a media record apart. */
const runFields = ['arm', 'floods', 'members', 'watching', 'lossPercent', 'beside', 'oneWayMs']

/** The rows of all records; where two records have the same run, arms are named after their records. */
function armsOf(records: readonly NamedRecord[]): RecordRow[] {
  const runs = records.map(({ record }) =>
    record.rows.map((row) => JSON.stringify(runFields.map((field) => row[field]))),
  )
  const areDistinct = new Set(runs.flat()).size === runs.flat().length
  if (areDistinct) return records.flatMap(({ record }) => record.rows)
  return records.flatMap(({ name, record }) =>
    record.rows.map((row) => ({ ...row, arm: `${name}, ${cellOf(row['arm'])}` })),
  )
}

/** One point for all repeats of the same, with a band from the least to the most. */
function averaged(points: readonly LinePoint[]): LinePoint[] {
  const alike = Map.groupBy(points, ({ series, x }) => JSON.stringify([series, x]))
  return Array.from(alike.values(), (some) => {
    const [first] = some
    const ys = some.map(({ y }) => y)
    if (first === undefined || some.length === 1) return some
    return [{ ...first, y: mean(ys) ?? first.y, low: Math.min(...ys), high: Math.max(...ys) }]
  }).flat()
}

function kindsOf(row: RecordRow, xField: string): string[] {
  return kinds.flatMap((kind) => {
    const cell = kind === xField ? undefined : cellOf(row[kind])
    return cell === undefined ? [] : [numbers.includes(kind) ? `${kind} ${cell}` : String(cell)]
  })
}
