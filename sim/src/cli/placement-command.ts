import type { CommandModule } from 'yargs'
import { simError } from '../errors.ts'
import { placement, type PlacementOptions, type PlacementReport } from '../experiments/placement.ts'
import { textTable } from '../report/text-table.ts'
import { showProgress } from './progress.ts'
import { beginBound, minutesOption } from './time-bound.ts'

interface PlacementArguments extends PlacementOptions {
  readonly minutes: number
  readonly json: boolean
}

/** An even spread is one whose fullest and emptiest trackers are no farther from the mean than this. */
const maxDeviation = 0.1

export const placementCommand: CommandModule<object, PlacementArguments> = {
  command: 'placement',
  describe: 'how evenly stream parts are spread over trackers, and how many move when one comes or goes',
  builder: {
    parts: { type: 'number', default: 100_000, describe: 'stream parts' },
    trackers: { type: 'number', default: 16 },
    copies: { type: 'number', default: 2, describe: 'trackers responsible for one stream part' },
    seed: { type: 'string', default: '1', describe: 'same seed, same run' },
    ...minutesOption(60),
    json: { type: 'boolean', default: false, describe: 'one line of JSON' },
  },
  handler: ({ parts, trackers, copies, seed, minutes, json }) => {
    check('parts', parts, 1, 1_000_000)
    check('trackers', trackers, 2, 1_000)
    check('copies', copies, 1, trackers)
    const report = placement({ parts, trackers, copies, seed }, beginBound({ minutes }))
    showProgress('')
    process.stdout.write(`${json ? JSON.stringify(report) : textOf(report)}\n`)
    const { led, held, removed, added } = report
    const even = led.worstDeviation <= maxDeviation && held.worstDeviation <= maxDeviation
    process.exitCode = even && removed.needless + added.needless === 0 ? 0 : 1
  },
}

function textOf({ led, held, removed, added }: PlacementReport): string {
  const loads = [
    ['leads', led],
    ['is responsible for', held],
  ] as const
  const moves = [
    ['removed', removed],
    ['added', added],
  ] as const
  const spread = textTable(
    ['a tracker', 'mean', 'least', 'most', 'worst deviation'],
    loads.map(([what, { mean, least, most, worstDeviation }]) => [
      what,
      mean,
      least,
      most,
      percent(worstDeviation),
    ]),
  )
  const moved = textTable(
    ['one tracker', 'fair share', 'leads moved', 'responsibilities moved', 'moved between others'],
    moves.map(([what, { fair, led, held, needless }]) => [
      what,
      percent(fair),
      percent(led),
      percent(held),
      needless,
    ]),
  )
  return `${spread}\n\n${moved}`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`
}

function check(name: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return
  throw simError('INVALID_ARGUMENT', `--${name} is a whole number from ${min} to ${max}`)
}
