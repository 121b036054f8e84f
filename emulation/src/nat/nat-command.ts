import type { CommandModule } from 'yargs'
import { makeFolder, type RecordRow } from '@runnel/sim/records'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { checkMinutes, someMinutesOption } from '@runnel/sim/time-bound'
import { checkOption } from '../cli/check-option.ts'
import { withinMinutes } from '../cli/minutes.ts'
import { writeResults } from '../cli/write-results.ts'
import { emulationError } from '../errors.ts'
import { natMinutes } from './nat-bound.ts'
import { natKinds } from './nat-kinds.ts'
import type { NatRow } from './nat-rows.ts'
import { nameOf, type HelperSet } from './nat-scenarios.ts'
import { natDefaults, runNat } from './run-nat.ts'

interface NatArguments {
  readonly repeats: number
  readonly helpers: HelperSet | undefined
  readonly pair: string | undefined
  readonly minutes: number | undefined
  readonly check: boolean
  readonly json: boolean
  readonly out: string | undefined
}

const maxRepeats = 1_000
const columns = [
  'pair',
  'helpers',
  'expected',
  'outcome',
  'asExpected',
  'runs',
  'candidates',
  'upgraded',
  'failure',
  'reported',
  'linkP50Ms',
  'linkMinMs',
  'linkMaxMs',
  'processP50Ms',
  'trackerP50Ms',
  'messageP50Ms',
  'totalP50Ms',
] as const satisfies (keyof NatRow)[]

/** `emulate nat`: every pair of NATs. */
export function natCommand(signal: AbortSignal): CommandModule<object, NatArguments> {
  return {
    command: 'nat',
    describe: 'WebRTC links through pairs of NATs, with a STUN and a TURN server; needs root',
    builder: {
      repeats: { type: 'number', default: natDefaults.repeats, describe: 'times that each pair is set up' },
      helpers: { choices: natDefaults.helpers, describe: 'only with these' },
      pair: {
        choices: [...natKinds, ...natDefaults.scenarios.map(nameOf)],
        describe: 'only pairs with this kind, or only this pair',
      },
      ...someMinutesOption,
      ...checkOption,
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for the record, JSON' },
    },
    handler: async (argv) => {
      const options = optionsOf(argv)
      const minutes = argv.minutes ?? natMinutes(options)
      checkMinutes(minutes)
      if (argv.check) return
      if (argv.out !== undefined) makeFolder(argv.out)
      const onProgress = (text: string): void => void process.stderr.write(`nat: ${text}\n`)
      const { rows, facts } = await withinMinutes(minutes, signal, (either) =>
        runNat(options, either, onProgress),
      )
      process.stdout.write(`${argv.json ? JSON.stringify({ experiment: 'nat', rows }) : tabulate(rows)}\n`)
      if (argv.out !== undefined)
        writeResults(argv.out, {
          experiment: 'nat',
          source: 'emulation',
          parameters: { repeats: argv.repeats, helpers: argv.helpers, pair: argv.pair },
          facts,
          rows: rows.map((row): RecordRow => ({ ...row })),
        })
      const off = rows.filter(({ asExpected, runs }) => asExpected < runs)
      if (off.length > 0)
        throw emulationError(
          'AGAINST_THEORY',
          off.map(({ pair, helpers }) => `${pair} with ${helpers}`).join('; '),
        )
    },
  }
}

/** Throws INVALID_ARGUMENT. */
function optionsOf({ repeats, helpers, pair }: NatArguments) {
  if (!Number.isSafeInteger(repeats) || repeats < 1 || repeats > maxRepeats)
    throw emulationError('INVALID_ARGUMENT', `--repeats is a whole number from 1 to ${maxRepeats}`)
  const scenarios = natDefaults.scenarios.filter(
    (one) => pair === undefined || [one.a, one.b, nameOf(one)].includes(pair),
  )
  return { repeats, helpers: helpers === undefined ? natDefaults.helpers : [helpers], scenarios }
}

function tabulate(rows: readonly NatRow[]): string {
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column])))
  return textTable(columns, cells)
}
