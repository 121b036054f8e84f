import type { CommandModule } from 'yargs'
import { makeFolder, type RecordRow } from '@runnel/sim/records'
import { reportRuns, turnedTable, type Runs } from '../report-runs.ts'
import { within } from '../within.ts'
import { createUnderlay } from '../../underlay/underlay.ts'
import { mediaOptions, runsOf, type MediaArguments } from './media-arguments.ts'
import { graceMs, longestGatheringMs, warmUpMs, type RoomOptions } from './room-plan.ts'
import { runRoom } from './run-room.ts'

const columns = [
  ...['arm', 'floods', 'members', 'voices', 'pictures', 'lossPercent', 'dilation'],
  ...['soundP50Ms', 'soundP95Ms', 'soundP99Ms', 'soundLossPercent', 'soundJitterMs', 'concealedPercent'],
  ...['pictureP50Ms', 'pictureP95Ms', 'pictureP99Ms', 'pictureLossPercent', 'freezesPerMinute'],
  ...['soundCopies', 'pictureCopies', 'cpuPercent', 'machineLoad'],
  ...['europeRttMs', 'europeUnderlayRttMs', 'europeJitterMs'],
]
/** What starting and ending take beside, for each member. */
const startMs = 4_000

/** `emulate media`: rooms with sound and pictures, as source 000 measured them. What has been measured is kept when a later run fails, or is stopped. */
export function mediaCommand(
  signal: AbortSignal,
  modules: { readonly runRoom: typeof runRoom } = { runRoom },
): CommandModule<object, MediaArguments> {
  return {
    command: 'media',
    describe: 'a room in which members speak and show themselves: delay, loss, jitter, copies (source 000)',
    builder: mediaOptions,
    handler: async (argv) => {
      const runs = runsOf(argv)
      if (argv.check) return
      if (argv.out !== undefined) makeFolder(argv.out)
      const boundMs = runs.reduce((sum, one) => sum + longestMs(one), 0)
      say(`${runs.length} runs, ${Math.ceil(boundMs / 60_000)} minutes at most`)
      const underlay = createUnderlay('aws')
      const rows: RecordRow[] = []
      try {
        for (const run of runs) {
          say(saysOf(run))
          const row = await within(longestMs(run), signal, (either) => modules.runRoom(run, underlay, either))
          rows.push(row)
        }
      } finally {
        await reportRuns(toReport(argv, rows, runs.length), argv)
      }
    },
  }
}

const say = (text: string): void => void process.stderr.write(`media: ${text}\n`)

function toReport(argv: MediaArguments, rows: readonly RecordRow[], runs: number): Runs {
  const { room, arms, floods, voices, pictures, sites, relays, loss, dilation, seconds, seed } = argv
  return {
    ...{ experiment: 'media', rows, runs, tabulate: (all) => turnedTable(columns, all) },
    facts: { place: 'namespaces', latency: 'aws' },
    parameters: {
      ...{ room, arms, floods, voices, pictures, sites },
      ...{ relays, loss, dilation, seconds, seed },
    },
  }
}

function saysOf({ arm, floods, members, voices, pictures, lossPercent, dilation }: RoomOptions): string {
  const slower = dilation === 1 ? 'in real time' : `${dilation} times slower`
  const all = voices === members && pictures === members ? 'all' : 'not all'
  return `${arm}, ${floods} floods, ${members} members, ${voices} voices and ${pictures} pictures (${all}), ${lossPercent} % loss, ${slower}`
}

function longestMs({ members, measureMs, dilation }: RoomOptions): number {
  return longestGatheringMs(dilation) + members * startMs + (warmUpMs + measureMs + graceMs) * dilation
}
