import type { CommandModule } from 'yargs'
import { writeFigures } from '@runnel/sim/figures'
import { makeFolder } from '@runnel/sim/records'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { checkMinutes, someMinutesOption } from '@runnel/sim/time-bound'
import { checkOption } from '../cli/check-option.ts'
import { once, wordsOf } from '../cli/list-arguments.ts'
import { withinMinutes } from '../cli/minutes.ts'
import { writeResults } from '../cli/write-results.ts'
import { emulationError } from '../errors.ts'
import { firstFigure } from './first-figure.ts'
import { firstArms, goals, type FirstOptions, type Goal } from './first-plan.ts'
import { summaries, type FirstSummary } from './first-rows.ts'
import { joinLimitMs, runFirst } from './run-first.ts'

interface FirstArguments {
  readonly arms: string
  readonly repeats: number
  readonly delay: number
  readonly relayDelay: number | undefined
  readonly minutes: number | undefined
  readonly check: boolean
  readonly json: boolean
  readonly out: string | undefined
}

/** Hosts, publishers, and a clip where pictures are the goal. */
const startingMs = 120_000
/** What a process that joins twice takes besides round trips, on two idle cores: its start and its end, and a pause between. */
const ownMs = 1_500
/** A slow machine may take this many times as long. */
const slowFactor = 5
/** Of a cold and a warm start together, by the longest way. */
const roundTrips = 26
const columns = [
  ...(['arm', 'start', 'runs', 'missed', 'p50Ms', 'p95Ms', 'iqrMs', 'maxMs', 'roundTrips', 'slow'] as const),
  ...(['cpuP50Ms', 'rssMiB', 'stageP50Ms'] as const),
] satisfies (keyof FirstSummary)[]

const described: Readonly<Record<Goal, string>> = {
  message: 'message of a live stream',
  frame: 'picture of a session that can be decoded',
}

/** `emulate first-message` and `first-frame`: from the start of a client to what it came for (source 001). */
export const firstCommands = (signal: AbortSignal): CommandModule<object, FirstArguments>[] =>
  goals.map((goal) => firstCommand(goal, signal))

function firstCommand(goal: Goal, signal: AbortSignal): CommandModule<object, FirstArguments> {
  const experiment = `first-${goal}`
  return {
    command: experiment,
    describe: `from the start to the first ${described[goal]}, by the way to it (source 001); needs root`,
    builder: {
      arms: {
        type: 'string',
        default: firstArms.join(','),
        describe: 'how the two are linked',
      },
      repeats: {
        type: 'number',
        default: 30,
        describe: 'processes of each arm; each starts cold, then warm',
      },
      delay: { type: 'number', default: 50, describe: 'one way between any two hosts, ms' },
      'relay-delay': { type: 'number', describe: 'one way from each end to coturn, ms (half of --delay)' },
      ...someMinutesOption,
      ...checkOption,
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for the record, JSON, and the box plot' },
    },
    handler: async (argv) => {
      const options = optionsOf(goal, argv)
      const minutes = argv.minutes ?? firstMinutes(options)
      checkMinutes(minutes)
      if (argv.check) return
      if (argv.out !== undefined) makeFolder(argv.out)
      const say = (text: string): void => void process.stderr.write(`${experiment}: ${text}\n`)
      const { rows, facts } = await withinMinutes(minutes, signal, (either) => runFirst(options, either, say))
      const { arms, ...numbers } = options
      const all = summaries(rows)
      const text = argv.json
        ? JSON.stringify({ experiment, facts, summaries: all, rows })
        : `${tabulate(all)}\n${JSON.stringify(facts)}`
      process.stdout.write(`${text}\n`)
      if (argv.out === undefined) return
      const parameters = { ...numbers, arms: arms.join(',') }
      writeResults(argv.out, { experiment, source: 'emulation', parameters, facts, rows: [...rows] })
      await writeFigures(argv.out, [firstFigure(experiment, goal, rows)])
    },
  }
}

/** By when all processes have joined, with twice their round trips. Where many starts are missed, each after 20 s, it takes `--minutes`. */
function firstMinutes({ arms, repeats, oneWayMs, relayOneWayMs }: FirstOptions): number {
  const roundTripMs = 2 * Math.max(oneWayMs, 2 * relayOneWayMs)
  const joinMs = Math.min(joinLimitMs, slowFactor * ownMs + 2 * roundTrips * roundTripMs)
  return Math.ceil((startingMs + arms.length * repeats * joinMs + joinLimitMs) / 60_000)
}

/** Throws INVALID_ARGUMENT. */
function optionsOf(goal: Goal, { arms, repeats, delay, relayDelay }: FirstArguments): FirstOptions {
  if (!Number.isSafeInteger(repeats) || repeats < 1 || repeats > 1_000)
    throw emulationError('INVALID_ARGUMENT', '--repeats is a whole number from 1 to 1000')
  const relayOneWayMs = relayDelay ?? delay / 2
  for (const [flag, ms] of Object.entries({ delay, 'relay-delay': relayOneWayMs }))
    if (!(ms > 0 && ms <= 1_000)) throw emulationError('INVALID_ARGUMENT', `--${flag} is above 0, up to 1000`)
  const some = once('arms', wordsOf('arms', firstArms, arms))
  if (relayDelay !== undefined && some.every((arm) => arm === 'websocket'))
    throw emulationError('INVALID_ARGUMENT', '--relay-delay is for arms that use WebRTC')
  return { goal, arms: some, repeats, oneWayMs: delay, relayOneWayMs }
}

function tabulate(all: readonly FirstSummary[]): string {
  return textTable(
    columns,
    all.map((one) => columns.map((column) => cellOf(one[column]))),
  )
}
