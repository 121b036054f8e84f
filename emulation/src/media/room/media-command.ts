import type { CommandModule } from 'yargs'
import { makeFolder, type RecordRow } from '@runnel/sim/records'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { checkOption } from '../../cli/check-option.ts'
import { writeResults } from '../../cli/write-results.ts'
import { emulationError } from '../../errors.ts'
import { within } from '../within.ts'
import { createUnderlay } from '../../underlay/underlay.ts'
import { floodKinds, type FloodKind } from '../../places/place.ts'
import {
  graceMs,
  longestGatheringMs,
  roomArms,
  warmUpMs,
  type RoomArm,
  type RoomOptions,
} from './room-plan.ts'
import { runRoom } from './run-room.ts'

interface MediaArguments {
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

const columns = [
  ...['arm', 'floods', 'members', 'voices', 'pictures', 'lossPercent', 'dilation'],
  ...['soundP50Ms', 'soundP95Ms', 'soundP99Ms', 'soundLossPercent', 'soundJitterMs', 'concealedPercent'],
  ...['pictureP50Ms', 'pictureP95Ms', 'pictureP99Ms', 'pictureLossPercent', 'freezesPerMinute'],
  ...['soundCopies', 'pictureCopies', 'cpuPercent', 'machineLoad'],
  ...['europeRttMs', 'europeUnderlayRttMs', 'europeJitterMs'],
]
/** What starting and ending take beside, for each member. */
const startMs = 4_000
const maxMembers = 100
const maxDilation = 100

/** `emulate media`: rooms with sound and pictures, as source 000 measured them. */
export function mediaCommand(signal: AbortSignal): CommandModule<object, MediaArguments> {
  return {
    command: 'media',
    describe: 'a room in which members speak and show themselves: delay, loss, jitter, copies (source 000)',
    builder: {
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
      out: { type: 'string', describe: 'folder for the record, JSON' },
    },
    handler: async (argv) => {
      const runs = runsOf(argv)
      if (argv.check) return
      if (argv.out !== undefined) makeFolder(argv.out)
      const say = (text: string): void => void process.stderr.write(`media: ${text}\n`)
      const boundMs = runs.reduce((sum, one) => sum + longestMs(one), 0)
      say(`${runs.length} runs, ${Math.ceil(boundMs / 60_000)} minutes at most`)
      const underlay = createUnderlay('aws')
      const rows: RecordRow[] = []
      for (const run of runs) {
        say(saysOf(run))
        rows.push(await within(longestMs(run), signal, (either) => runRoom(run, underlay, either)))
      }
      process.stdout.write(argv.json ? `${JSON.stringify({ experiment: 'media', rows })}\n` : tabulate(rows))
      const { room, arms, floods, voices, pictures, sites, relays, loss, dilation, seconds, seed } = argv
      const parameters = {
        room,
        arms,
        floods,
        voices,
        pictures,
        sites,
        relays,
        loss,
        dilation,
        seconds,
        seed,
      }
      const facts = { place: 'namespaces', latency: 'aws' }
      if (argv.out !== undefined)
        writeResults(argv.out, { experiment: 'media', source: 'emulation', rows, facts, parameters })
    },
  }
}

/** Turned on its side: there are more figures than rows. */
function tabulate(rows: readonly RecordRow[]): string {
  const [head = [], ...rest] = columns.map((column) => [
    column,
    ...rows.map((row) => String(cellOf(row[column]) ?? '')),
  ])
  return `${textTable(head, rest)}\n`
}

function saysOf({ arm, floods, members, voices, pictures, lossPercent, dilation }: RoomOptions): string {
  const slower = dilation === 1 ? 'in real time' : `${dilation} times slower`
  const all = voices === members && pictures === members ? 'all' : 'not all'
  return `${arm}, ${floods} floods, ${members} members, ${voices} voices and ${pictures} pictures (${all}), ${lossPercent} % loss, ${slower}`
}

function longestMs({ members, measureMs, dilation }: RoomOptions): number {
  return longestGatheringMs(dilation) + members * startMs + (warmUpMs + measureMs + graceMs) * dilation
}

/** Checks the arguments. Throws INVALID_ARGUMENT. */
function runsOf(argv: MediaArguments): RoomOptions[] {
  const { dilation, seconds, seed } = argv
  const numbers = (name: string, text: string, min: number, max: number): number[] =>
    text.split(',').map((one) => checked(name, one === '' ? NaN : Number(one), min, max))
  const [sites, relaySites] = [sitesOf('sites', argv.sites), sitesOf('relays', argv.relays)]
  const shared = {
    ...{ sites, relaySites, seed: checked('seed', seed, 0, 2 ** 31) },
    dilation: checked('dilation', dilation, 1, maxDilation),
    measureMs: 1_000 * checked('seconds', seconds, 1, 3_600),
  }
  const losses = numbers('loss', argv.loss, 0, 50)
  return numbers('room', argv.room, 2, maxMembers).flatMap((members) =>
    losses.flatMap((lossPercent) =>
      argv.arms.split(',').flatMap((arm) =>
        argv.floods.split(',').map((floods) => ({
          ...{ ...shared, arm: armOf(arm), floods: floodsOf(floods), members, lossPercent },
          voices: Math.min(members, checked('voices', argv.voices, 0, maxMembers)),
          pictures: Math.min(members, checked('pictures', argv.pictures, 0, maxMembers)),
        })),
      ),
    ),
  )
}

function armOf(text: string): RoomArm {
  const arm = roomArms.find((one) => one === text)
  if (arm !== undefined) return arm
  throw emulationError('INVALID_ARGUMENT', `--arms is of ${roomArms.join(', ')}`)
}

function floodsOf(text: string): FloodKind {
  const floods = floodKinds.find((one) => one === text)
  if (floods !== undefined) return floods
  throw emulationError('INVALID_ARGUMENT', `--floods is of ${floodKinds.join(', ')}`)
}

function sitesOf(name: string, text: string): string[] {
  const known = createUnderlay('aws').sites
  const sites = text.split(',')
  if (sites.every((site) => known.includes(site))) return sites
  throw emulationError('INVALID_ARGUMENT', `--${name} is of ${known.join(', ')}`)
}

function checked(name: string, value: number, min: number, max: number): number {
  if (value >= min && value <= max) return value
  throw emulationError('INVALID_ARGUMENT', `--${name} is from ${min} to ${max}`)
}
