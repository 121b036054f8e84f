import type { CommandModule } from 'yargs'
import { makeFolder, type RecordRow } from '@runnel/sim/records'
import { checkOption } from '../../cli/check-option.ts'
import { numbersOf, once, wordsOf } from '../../cli/list-arguments.ts'
import { checked, whole } from '../../cli/number-arguments.ts'
import { emulationError } from '../../errors.ts'
import { createUnderlay } from '../../underlay/underlay.ts'
import { reportRuns, turnedTable, type Runs } from '../report-runs.ts'
import { within } from '../within.ts'
import { begunWithinMs, besideMs, glassArms, warmUpMs, type GlassOptions } from './glass-plan.ts'
import { runGlass } from './run-glass.ts'

interface MediaGlassArguments {
  readonly arms: string
  readonly watching: number
  readonly sites: string
  readonly relay: string
  readonly loss: string
  readonly seconds: number
  readonly seed: number
  readonly check: boolean
  readonly json: boolean
  readonly out: string | undefined
}

const columns = [
  ...['arm', 'watching', 'lossPercent', 'networkMs', 'networkByRelayMs'],
  ...['pictureP50Ms', 'pictureP95Ms', 'soundP50Ms', 'soundP95Ms', 'picturesPerS', 'freezesPerMinute'],
  ...['clicks', 'clicksHeard', 'jitterMs', 'concealedPercent', 'pictureLossPercent', 'machineLoad'],
]

/** `emulate media-glass`: from glass to glass in pages, beside an SFU. What has been measured is kept when a later run fails, or is stopped. */
export function mediaGlassCommand(
  signal: AbortSignal,
  modules: { readonly runGlass: typeof runGlass } = { runGlass },
): CommandModule<object, MediaGlassArguments> {
  return {
    command: 'media-glass',
    describe:
      'from a picture painted, or a click made, in a page until another shows or plays it: by an overlay, a relay, and an SFU (Janus)',
    builder: {
      arms: { type: 'string', default: glassArms.join(','), describe: 'how pages are joined' },
      watching: { type: 'number', default: 2, describe: 'pages that watch the one that publishes' },
      sites: {
        type: 'string',
        default: 'eu-central-1,eu-west-3',
        describe: 'of table 5.1; pages are there in turn, the one that publishes first',
      },
      relay: { type: 'string', default: 'eu-west-2', describe: 'site of the relay, or the SFU' },
      loss: {
        type: 'string',
        default: '0',
        describe: 'per cent of packets that each link loses each way; several: 0,1,3',
      },
      seconds: { type: 'number', default: 30, describe: 'what is measured' },
      seed: { type: 'number', default: 1, describe: 'of loss' },
      ...checkOption,
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for the record, JSON, and figures, SVG and PNG' },
    },
    handler: async (argv) => {
      const runs = runsOf(argv)
      if (argv.check) return
      if (argv.out !== undefined) makeFolder(argv.out)
      const say = (text: string): void => void process.stderr.write(`media-glass: ${text}\n`)
      say(`runs: ${runs.length}, ${Math.ceil((runs.length * longestMs(runs[0])) / 60_000)} minutes at most`)
      const underlay = createUnderlay('aws')
      const rows: RecordRow[] = []
      try {
        for (const run of runs) {
          say(`${run.arm}, ${run.watching} watching, ${run.lossPercent} % loss`)
          rows.push(await within(longestMs(run), signal, (either) => modules.runGlass(run, underlay, either)))
        }
      } finally {
        await reportRuns(toReport(argv, rows, runs.length), argv)
      }
      requireMeasured(rows)
    },
  }
}

/** A page that is too slow to show anything has no delays, which are not good ones. Throws NOTHING_MEASURED. */
export function requireMeasured(rows: readonly RecordRow[]): void {
  const missing = rows.flatMap(({ arm, pictureP50Ms, soundP50Ms }) => [
    ...(pictureP50Ms === null ? [`${arm}: no picture was shown`] : []),
    ...(soundP50Ms === null ? [`${arm}: no click was heard`] : []),
  ])
  if (missing.length > 0) throw emulationError('NOTHING_MEASURED', missing.join('; '))
}

function longestMs(run: GlassOptions | undefined): number {
  return besideMs + begunWithinMs + warmUpMs + (run?.measureMs ?? 0)
}

function toReport(argv: MediaGlassArguments, rows: readonly RecordRow[], runs: number): Runs {
  const { arms, watching, sites, relay, loss, seconds, seed } = argv
  return {
    ...{ experiment: 'media-glass', rows, runs, tabulate: (all) => turnedTable(columns, all) },
    facts: { place: 'namespaces', latency: 'aws' },
    parameters: { arms, watching, sites, relay, loss, seconds, seed },
  }
}

/** Checks the arguments. Throws INVALID_ARGUMENT. */
function runsOf(argv: MediaGlassArguments): GlassOptions[] {
  const known = createUnderlay('aws').sites
  const [sites, relaySites] = [argv.sites.split(','), [argv.relay]]
  for (const site of [...sites, ...relaySites])
    if (!known.includes(site))
      throw emulationError('INVALID_ARGUMENT', `a site is one of ${known.join(', ')}`)
  const shared = {
    ...{ sites, relaySite: argv.relay, watching: whole('watching', argv.watching, 1, 8) },
    measureMs: 1_000 * checked('seconds', argv.seconds, 1, 600),
    seed: whole('seed', argv.seed, 0, 2 ** 31),
  }
  const losses = once('loss', numbersOf(argv.loss)).map((one) => checked('loss', one, 0, 50))
  const arms = once('arms', wordsOf('arms', glassArms, argv.arms))
  return losses.flatMap((lossPercent) => arms.map((arm) => ({ ...shared, arm, lossPercent })))
}
