import { checkOption } from '../../cli/check-option.ts'
import { numbersOf, once, wordsOf } from '../../cli/list-arguments.ts'
import { checked, whole } from '../../cli/number-arguments.ts'
import { emulationError } from '../../errors.ts'
import { floodKinds } from '../../places/place.ts'
import { createUnderlay } from '../../underlay/underlay.ts'
import { roomArms, type RoomOptions } from './room-plan.ts'

export interface MediaArguments {
  readonly room: string
  readonly arms: string
  readonly floods: string
  readonly voices: number
  readonly pictures: number
  readonly sites: string
  readonly relays: string
  readonly loss: string
  readonly dilation: number
  readonly seconds: number
  readonly seed: number
  readonly check: boolean
  readonly json: boolean
  readonly out: string | undefined
}

const maxMembers = 100
const maxDilation = 100
/** Members say once a second what they did: what is measured needs two such samples. */
const minSeconds = 3

/** The options of `emulate media`, as yargs takes them. */
export const mediaOptions = {
  room: {
    type: 'string',
    default: '5',
    describe: 'members; several numbers, as 2,5,10, one after the other',
  },
  arms: {
    type: 'string',
    default: roomArms.join(','),
    describe: 'how members are joined; several take turns',
  },
  floods: {
    type: 'string',
    default: 'thin',
    describe: 'thin: neighbours may be asked for fewer copies; full; both take turns',
  },
  voices: { type: 'number', default: 3, describe: 'most members that speak' },
  pictures: { type: 'number', default: 4, describe: 'most members that show themselves, in 180 lines' },
  sites: {
    type: 'string',
    default: 'eu-central-1,eu-west-3',
    describe: 'of table 5.1; members are there in turn',
  },
  relays: { type: 'string', default: 'eu-west-2,eu-west-1', describe: 'sites of the relays' },
  loss: {
    type: 'string',
    default: '0',
    describe: 'per cent of packets that each link loses each way; several: 0,1,3',
  },
  dilation: {
    type: 'number',
    default: 1,
    describe: 'time dilation: slows down links and the clocks of processes by this factor',
  },
  seconds: { type: 'number', default: 20, describe: 'what is measured, in the time of the room' },
  seed: { type: 'number', default: 1, describe: 'of loss' },
  ...checkOption,
  json: { type: 'boolean', default: false, describe: 'one line of JSON' },
  out: { type: 'string', describe: 'folder for the record, JSON, and figures, SVG and PNG' },
} as const

/** The runs that the arguments ask for. Throws INVALID_ARGUMENT. */
export function runsOf(argv: MediaArguments): RoomOptions[] {
  const { dilation, seconds, seed } = argv
  const known = createUnderlay('aws').sites
  const shared = {
    ...{ sites: wordsOf('sites', known, argv.sites), relaySites: wordsOf('relays', known, argv.relays) },
    seed: whole('seed', seed, 0, 2 ** 31),
    dilation: checked('dilation', dilation, 1, maxDilation),
    measureMs: 1_000 * checked('seconds', seconds, minSeconds, 3_600),
  }
  const voices = whole('voices', argv.voices, 0, maxMembers)
  const pictures = whole('pictures', argv.pictures, 0, maxMembers)
  if (voices + pictures === 0)
    throw emulationError('INVALID_ARGUMENT', 'nothing is measured with --voices 0 and --pictures 0')
  const rooms = once('room', numbersOf(argv.room)).map((one) => whole('room', one, 2, maxMembers))
  const losses = once('loss', numbersOf(argv.loss)).map((one) => checked('loss', one, 0, 50))
  const arms = once('arms', wordsOf('arms', roomArms, argv.arms))
  const floods = once('floods', wordsOf('floods', floodKinds, argv.floods))
  return rooms.flatMap((members) =>
    losses.flatMap((lossPercent) =>
      arms.flatMap((arm) =>
        floods.map((kind) => ({
          ...{ ...shared, arm, floods: kind, members, lossPercent },
          ...{ voices: Math.min(members, voices), pictures: Math.min(members, pictures) },
        })),
      ),
    ),
  )
}
