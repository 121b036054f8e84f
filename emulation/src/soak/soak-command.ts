import type { CommandModule } from 'yargs'
import { writeFigures } from '@runnel/sim/figures'
import { makeFolder } from '@runnel/sim/records'
import { round } from '@runnel/sim/statistics'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { checkOption } from '../cli/check-option.ts'
import { withinMinutes } from '../cli/minutes.ts'
import { writeResults } from '../cli/write-results.ts'
import { emulationError } from '../errors.ts'
import { runSoak, soakOptions } from './run-soak.ts'
import { soakFigure } from './soak-figure.ts'
import { trendOf, type Trend } from './trend.ts'

interface SoakArguments {
  readonly for: string
  readonly tabs: boolean
  readonly check: boolean
  readonly json: boolean
  readonly out: string | undefined
}

const mib = 2 ** 20
/** Beside the time that it runs for: to start and to end everything. */
const besideMinutes = 15
const columns = ['process', 'quantity', 'level', 'perHour', 'lowPerHour', 'highPerHour', 'verdict'] as const

/** `emulate soak`: does anything grow in hours? */
export function soakCommand(signal: AbortSignal): CommandModule<object, SoakArguments> {
  return {
    command: 'soak',
    describe: 'does memory, or anything else, grow? A network with churn, resends and tabs runs for a time',
    builder: {
      for: { type: 'string', default: '1h', describe: 'how long: 90s, 20m, 8h' },
      tabs: { type: 'boolean', default: true, describe: 'two tabs of a Chromium take part' },
      ...checkOption,
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for the record, JSON, and the figure, SVG and PNG' },
    },
    handler: async (argv) => {
      const onProgress = (text: string): void => void process.stderr.write(`soak: ${text}\n`)
      const forMs = durationMs(argv.for)
      if (argv.check) return
      if (argv.out !== undefined) makeFolder(argv.out)
      const minutes = Math.ceil(forMs / 60_000) + besideMinutes
      const { series, comings } = await withinMinutes(minutes, signal, (either) =>
        runSoak(soakOptions(forMs, argv.tabs), either, onProgress),
      )
      const rows = series.flatMap((one) => trendOf(one) ?? []).map(shown)
      process.stdout.write(
        argv.json ? `${JSON.stringify({ experiment: 'soak', comings, rows })}\n` : reportOf(rows, comings),
      )
      if (argv.out !== undefined) {
        const parameters = { for: argv.for, tabs: argv.tabs }
        writeResults(argv.out, {
          experiment: 'soak',
          source: 'emulation',
          parameters,
          facts: { comings },
          rows,
        })
        await writeFigures(argv.out, [soakFigure(series)])
      }
      if (rows.some(({ verdict }) => verdict === 'grows')) process.exitCode = 1
    },
  }
}

/** Milliseconds of 90s, 20m or 8h. Throws INVALID_ARGUMENT. */
export function durationMs(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text) ?? []
  const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }
  const ms = Number(amount) * (units[unit] ?? NaN)
  if (!(ms > 0)) throw emulationError('INVALID_ARGUMENT', '--for is a time: 90s, 20m, 8h')
  return ms
}

type Row = ReturnType<typeof shown>

/** With bytes as MiB. */
function shown(trend: Trend) {
  const isBytes = trend.quantity.endsWith('Bytes')
  const scaled = (value: number): number => round(isBytes ? value / mib : value)
  return {
    ...trend,
    quantity: isBytes ? trend.quantity.replace('Bytes', 'MiB') : trend.quantity,
    level: scaled(trend.level),
    perHour: scaled(trend.perHour),
    lowPerHour: scaled(trend.lowPerHour),
    highPerHour: scaled(trend.highPerHour),
  }
}

function reportOf(rows: readonly Row[], comings: number): string {
  const table = textTable(
    columns,
    rows.map((row) => columns.map((column) => cellOf(row[column]))),
  )
  const named = (verdict: Trend['verdict']): string =>
    rows
      .filter((row) => row.verdict === verdict)
      .map(({ process, quantity }) => `${process} ${quantity}`)
      .join(', ')
  const [grows, unclear] = [named('grows'), named('unclear')]
  const lines = [
    grows === '' ? 'No growth was found.' : `Grows: ${grows}.`,
    ...(unclear === '' ? [] : [`Cannot be told yet: ${unclear}.`]),
    `Nodes came back ${comings} times.`,
  ]
  return `${table}\n\n${lines.join(' ')}\n`
}
