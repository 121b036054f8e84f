import type { CommandModule } from 'yargs'
import { simError } from '../errors.ts'
import { textTable } from '../report/text-table.ts'
import type { RoomReport } from '../scenarios/room/room-measure.ts'
import { runRoom, type RoomOptions } from '../scenarios/room/room-run.ts'
import { wholeNumbers } from './arguments.ts'
import { showProgress } from './progress.ts'
import { checkMinutes, progressWithin, sayBound } from './time-bound.ts'

interface RoomArguments {
  readonly members: number
  readonly voices: number | undefined
  readonly pictures: number | undefined
  readonly cases: string | undefined
  readonly minutes: number
  readonly degree: number
  readonly seconds: number
  readonly seed: string
  readonly json: boolean
}

type Case = Pick<RoomOptions, 'lossRate' | 'kbitPerS' | 'kills' | 'churns' | 'liars'>

const steady = { lossRate: 0, kbitPerS: Infinity, kills: false, churns: false, liars: 0 } as const
/** Lossy links; members that are lost, that come and go, and that lie. */
const cases: readonly (Case & { readonly name: string })[] = [
  ...[0, 0.01, 0.03, 0.05].map((lossRate) => ({ name: `${100 * lossRate} % lost`, ...steady, lossRate })),
  { name: 'one leaves silently', ...steady, kills: true },
  { name: '3 Mbit/s', ...steady, kbitPerS: 3_000 },
  { name: '3 Mbit/s, one leaves', ...steady, kbitPerS: 3_000, kills: true },
  { name: 'a third comes and goes', ...steady, churns: true },
  { name: 'two withhold half', ...steady, liars: 2 },
]
const maxMembers = 100
/** Of a random overlay; neither overlays nor cases are with fewer. */
const minDegree = 2
const minMembers = 3

const head = [
  ...['links', 'floods', 'kind', 'copies', 'lost %', 'p50 ms', 'p95', 'p99', 'max'],
  ...['digests', 'pulled'],
]

export const roomCommand: CommandModule<object, RoomArguments> = {
  command: 'room',
  describe: 'members that send audio and video: copies, delays and losses, with and without thin floods',
  builder: {
    members: { type: 'number', default: 12 },
    voices: { type: 'number', describe: 'members that speak; all unless given' },
    pictures: { type: 'number', describe: 'members that show themselves; all unless given' },
    cases: { type: 'string', describe: `some of: ${cases.map(({ name }) => name).join('; ')}` },
    minutes: {
      type: 'number',
      default: 60,
      describe: 'of real time, that each run may take; there are two for each case',
    },
    degree: { type: 'number', default: 4, describe: 'neighbours per node, of sound and of pictures' },
    seconds: { type: 'number', default: 10, describe: 'virtual seconds that are measured' },
    seed: { type: 'string', default: '1', describe: 'same seed, same run' },
    json: { type: 'boolean', default: false, describe: 'a line of JSON for each run' },
  },
  handler: async ({
    members,
    voices = members,
    pictures = members,
    degree,
    seconds,
    seed,
    json,
    ...argv
  }) => {
    wholeNumbers({ members, degree, seconds }, maxMembers)
    wholeNumbers({ voices, pictures }, members)
    checkMinutes(argv.minutes)
    if (members < minMembers) throw simError('INVALID_ARGUMENT', `--members is ${minMembers} at least`)
    if (degree < minDegree) throw simError('INVALID_ARGUMENT', `--degree is ${minDegree} at least`)
    const chosen = casesOf(argv.cases)
    sayBound(2 * chosen.length * argv.minutes)
    const rows: (string | number)[][] = []
    try {
      for (const { name, ...one } of chosen)
        for (const thinFloods of [false, true]) {
          const arm = thinFloods ? 'thin' : 'full'
          const room = { members, voices, pictures, degree, seconds }
          const onProgress = progressWithin(argv)
          const report = await runRoom({ ...one, ...room, seed, thinFloods }, (text) =>
            onProgress(`${name}, ${arm}: ${text}`),
          )
          if (json) process.stdout.write(`${JSON.stringify({ case: name, arm, ...report })}\n`)
          else rows.push(...rowsOf(report).map((row) => [name, arm, ...row]))
        }
    } finally {
      showProgress('')
      // Also what was there before a run took too long.
      if (rows.length > 0) process.stdout.write(`${textTable(head, rows)}\n`)
    }
  },
}

/** Throws INVALID_ARGUMENT. */
function casesOf(names: string | undefined): typeof cases {
  if (names === undefined) return cases
  return names.split(';').map((text) => {
    const found = cases.find(({ name }) => name === text.trim())
    if (found !== undefined) return found
    throw simError(
      'INVALID_ARGUMENT',
      `--cases has no "${text.trim()}"; it is some of: ${cases.map(({ name }) => name).join('; ')}`,
    )
  })
}

/** Digests and pulls are of a member in a second, of both kinds. */
function rowsOf({ kinds, digests, pulled }: RoomReport): (string | number)[][] {
  return kinds.map(({ kind, copies, expected, arrived, p50Ms, p95Ms, p99Ms, maxMs }) => [
    ...[kind, round(copies), round(100 * (1 - arrived / expected)), p50Ms, p95Ms, p99Ms, maxMs],
    ...(kind === 'sound' ? [round(digests), round(pulled)] : ['', '']),
  ])
}

const round = (value: number): number => Math.round(value * 100) / 100
