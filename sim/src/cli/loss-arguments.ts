import type { Options } from 'yargs'
import { simError } from '../errors.ts'
import { lossDefaults } from '../scenarios/loss.ts'
import { oneLinkDefaults } from '../scenarios/one-link.ts'
import { wholeNumbers } from './arguments.ts'
import { floodsOption, type Floods } from './floods-option.ts'
import { maxMinutes, someMinutesOption } from './time-bound.ts'

/** Node processes that a machine with two cores carries. */
const defaultProcesses = 10
/** Of anything that is counted. */
const maxNumber = 1_000_000

/** Undefined where nothing was given. */
export interface LossArguments {
  readonly seeds: number | undefined
  readonly seed: number
  readonly nodes: number | undefined
  readonly degree: number
  readonly publishers: number | undefined
  readonly rate: number | undefined
  readonly seconds: number | undefined
  readonly loss: number
  readonly killEvery: number | undefined
  readonly fill: boolean | undefined
  readonly floods: Floods | undefined
  readonly oneLink: boolean
  readonly processes: boolean
  readonly minutes: number | undefined
  readonly json: boolean
}

/** A number that only some kinds of run take, so that it can be told whether it was given. */
const number = (describe: string, usual: number) =>
  ({ type: 'number', describe: `${describe}; ${usual} unless given` }) as const

export const lossBuilder = {
  seeds: { type: 'number', describe: 'runs, each with the next seed; default 20, with processes 1' },
  seed: { type: 'number', default: 1, describe: 'the first seed' },
  nodes: { type: 'number', describe: `${lossDefaults.nodes}, processes ${defaultProcesses}` },
  degree: { type: 'number', default: lossDefaults.degree, describe: 'neighbours per node' },
  publishers: number('nodes that publish', lossDefaults.publishers),
  rate: number('messages per second of each publisher', lossDefaults.rate),
  seconds: number('virtual seconds of publishing', lossDefaults.seconds),
  loss: { type: 'number', default: lossDefaults.lossRate, describe: 'part of frames lost' },
  killEvery: number(
    'virtual seconds from one killed node to the next, 0 for none',
    lossDefaults.killEverySeconds,
  ),
  fill: {
    type: 'boolean',
    describe: 'fill gaps, as unless given; --no-fill shows what flooding alone delivers',
  },
  floods: {
    choices: floodsOption.floods.choices,
    describe: `${floodsOption.floods.describe}; ${floodsOption.floods.default} unless given`,
  },
  oneLink: {
    type: 'boolean',
    default: false,
    describe: 'only one link loses frames: how soon are gaps filled?',
  },
  processes: {
    type: 'boolean',
    default: false,
    describe: 'real processes, WebRTC and WebSockets in real time; nodes: 10 unless given',
  },
  ...someMinutesOption,
  json: { type: 'boolean', default: false, describe: 'one line of JSON' },
} as const satisfies Record<string, Options>

type LossSize = Readonly<Record<'seeds' | 'nodes' | 'publishers' | 'rate' | 'seconds', number>> &
  Pick<LossArguments, 'processes' | 'oneLink'>

/** Options that would change nothing. */
const ignored = {
  oneLink: ['publishers', 'rate', 'seconds', 'killEvery', 'fill', 'floods'],
  processes: ['fill', 'floods'],
} as const satisfies Record<string, readonly (keyof LossArguments)[]>

/** With what is usual where nothing was given. Throws INVALID_ARGUMENT, also for what the kind of run does not take. */
export function checkedLoss(argv: LossArguments) {
  for (const kind of ['oneLink', 'processes'] as const)
    for (const name of argv[kind] ? ignored[kind] : [])
      if (argv[name] !== undefined)
        throw simError('INVALID_ARGUMENT', `${dashed(kind)} takes no ${dashed(name)}`)
  if (argv.oneLink && argv.processes)
    throw simError('INVALID_ARGUMENT', 'give --one-link or --processes, not both')
  const checked = {
    ...argv,
    nodes: argv.nodes ?? (argv.processes ? defaultProcesses : lossDefaults.nodes),
    seeds: argv.seeds ?? (argv.processes ? 1 : 20),
    publishers: argv.publishers ?? lossDefaults.publishers,
    rate: argv.rate ?? lossDefaults.rate,
    seconds: argv.seconds ?? lossDefaults.seconds,
    killEvery: argv.killEvery ?? lossDefaults.killEverySeconds,
    fill: argv.fill ?? lossDefaults.fillGaps,
    thinFloods: (argv.floods ?? floodsOption.floods.default) === 'thin',
  }
  const { nodes, seeds, degree, publishers, rate, seconds, seed, killEvery, loss } = checked
  wholeNumbers({ nodes, seeds, degree, publishers, rate, seconds }, maxNumber)
  if (nodes < 2) throw simError('INVALID_ARGUMENT', '--nodes is 2 at least')
  if (!argv.oneLink && publishers > nodes)
    throw simError('INVALID_ARGUMENT', '--publishers is no more than --nodes')
  if (!Number.isSafeInteger(seed)) throw simError('INVALID_ARGUMENT', '--seed is a whole number')
  if (!(killEvery >= 0)) throw simError('INVALID_ARGUMENT', '--kill-every is 0 or more')
  if (!(loss >= 0 && loss < 1)) throw simError('INVALID_ARGUMENT', '--loss is from 0 to less than 1')
  return { ...checked, minutes: argv.minutes ?? lossMinutes(checked) }
}

/** What a run may take besides what grows with it; with processes, their start, and the minute in which they may look for what they miss. */
const beginMinutes = { virtual: 0.5, processes: 3 } as const
/** Messages times nodes that a slow machine simulates in a minute: a busy one with two cores does three times as many. */
const deliveriesPerMinute = 30_000

/** By when all runs are done, in whole minutes: with processes in real time, else by what there is to simulate. */
function lossMinutes(run: LossSize): number {
  const { processes, oneLink, seeds, nodes, publishers, rate, seconds } = run
  const messages = oneLink ? oneLinkDefaults.messages : publishers * rate * seconds
  const runMinutes = processes
    ? beginMinutes.processes + seconds / 60
    : beginMinutes.virtual + (nodes * messages) / deliveriesPerMinute
  return Math.min(maxMinutes, Math.ceil(seeds * (oneLink ? 2 : 1) * runMinutes))
}

function dashed(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
