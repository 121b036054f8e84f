import { rmSync } from 'node:fs'
import type { CommandModule } from 'yargs'
import { makeFolder, type RecordRow } from '@runnel/sim/records'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { checkOption } from '../../cli/check-option.ts'
import { numbersOf, once, wordsOf } from '../../cli/list-arguments.ts'
import { whole } from '../../cli/number-arguments.ts'
import { emulationError } from '../../errors.ts'
import { openRunDirectory } from '../../places/processes/run-directory.ts'
import { inParallel } from '../../session/in-parallel.ts'
import { reportRuns, type Runs } from '../report-runs.ts'
import { within } from '../within.ts'
import { besides, fallingLine, linkArms, type LinkOptions } from './link-plan.ts'
import { encodeRenditions } from './renditions.ts'
import { runLink } from './run-link.ts'

interface MediaLinkArguments {
  readonly arms: string
  readonly beside: string
  readonly delays: string
  readonly returns: number
  readonly atOnce: number
  readonly check: boolean
  readonly json: boolean
  readonly out: string | undefined
}

interface Modules {
  readonly encodeRenditions: typeof encodeRenditions
  readonly runLink: typeof runLink
}

const columns = [
  ...[
    'arm',
    'beside',
    'oneWayMs',
    'ssim',
    'ssimDamaged',
    'ssimWhileHalf',
    'kbitPerS',
    'kbitPerSWhileHalf',
    'backAfterS',
  ],
  ...[
    'waitedP50Ms',
    'waitedP95Ms',
    'sent',
    'shown',
    'of',
    'freezesPerMinute',
    'besideKbitPerS',
    'machineLoad',
  ],
]
/** What is measured after the line has returned. */
const afterS = 30
/** Encoding, starting, ending, and the likeness of pictures. */
const [encodingMs, besideRunMs] = [180_000, 300_000]

/** `emulate media-link`: pictures over the line of source 002, under three controls. Runs that have ended are kept when another fails, or all are stopped. */
export function mediaLinkCommand(
  signal: AbortSignal,
  modules: Modules = { encodeRenditions, runLink },
): CommandModule<object, MediaLinkArguments> {
  return {
    command: 'media-link',
    describe:
      'pictures over a line of 1 Mbit/s that carries half of it for a while: quality, and when the rate is back (source 002)',
    builder: {
      arms: { type: 'string', default: linkArms.join(','), describe: 'what decides how much is sent' },
      beside: { type: 'string', default: besides.join(','), describe: 'what shares the line' },
      delays: { type: 'string', default: '50', describe: 'one way, ms; several: 1,50,150,300' },
      returns: {
        type: 'number',
        default: 60,
        describe: 'when the line carries all again, s; source 002 says 60, and once 90',
      },
      'at-once': { type: 'number', default: 2, describe: 'runs at a time, each on a line of its own' },
      ...checkOption,
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for the record, JSON, and figures, SVG and PNG' },
    },
    handler: async (argv) => {
      const runs = runsOf(argv)
      const atOnce = whole('at-once', argv.atOnce, 1, 8)
      if (argv.check) return
      if (argv.out !== undefined) makeFolder(argv.out)
      const say = (text: string): void => void process.stderr.write(`media-link: ${text}\n`)
      const runMs = 1_000 * (runs[0]?.seconds ?? 0) + besideRunMs
      say(
        `${runs.length} runs, ${Math.ceil((encodingMs + Math.ceil(runs.length / atOnce) * runMs) / 60_000)} minutes at most`,
      )
      const ended = new Map<LinkOptions, RecordRow>()
      const directory = openRunDirectory()
      try {
        const renditions = await modules.encodeRenditions(directory, signal)
        const runOne = async (run: LinkOptions, either: AbortSignal): Promise<void> => {
          say(`${run.arm} beside ${run.beside}, ${run.oneWayMs} ms`)
          ended.set(run, await within(runMs, either, (sooner) => modules.runLink(run, renditions, sooner)))
        }
        await inParallel(atOnce, runs, runOne, signal)
      } finally {
        rmSync(directory, { recursive: true, force: true })
        const rows = runs.map((run) => ended.get(run)).filter((row) => row !== undefined)
        await reportRuns(toReport(argv, rows, runs.length), argv)
      }
    },
  }
}

function toReport(argv: MediaLinkArguments, rows: readonly RecordRow[], runs: number): Runs {
  const { arms, beside, delays, returns, atOnce } = argv
  return {
    ...{ experiment: 'media-link', rows, runs, tabulate },
    facts: { place: 'namespaces' },
    parameters: { arms, beside, delays, returns, atOnce },
  }
}

function tabulate(rows: readonly RecordRow[]): string {
  return `${textTable(
    columns,
    rows.map((row) => columns.map((column) => cellOf(row[column]))),
  )}\n`
}

/** Checks the arguments. Throws INVALID_ARGUMENT. */
function runsOf({ arms, beside, delays, returns }: MediaLinkArguments): LinkOptions[] {
  const line = fallingLine(whole('returns', returns, 31, 600))
  const others = once('beside', wordsOf('beside', besides, beside))
  const some = once('arms', wordsOf('arms', linkArms, arms))
  const oneWaysMs = once('delays', numbersOf(delays)).map((one) => whole('delays', one, 0, 1_000))
  const all = others.flatMap((other) =>
    some.flatMap((arm) =>
      oneWaysMs.map((oneWayMs) => ({ arm, beside: other, line, seconds: returns + afterS, oneWayMs })),
    ),
  )
  // UDP has no stream of its own beside: TCP is what there is.
  const runs = all.filter((run) => run.arm !== 'ladder' || run.beside !== 'bulk')
  if (runs.length > 0) return runs
  throw emulationError('INVALID_ARGUMENT', 'ladder has no bulk beside: nothing is left to run')
}
