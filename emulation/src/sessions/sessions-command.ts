import { loadavg } from 'node:os'
import type { CommandModule } from 'yargs'
import { writeFigures } from '@runnel/sim/figures'
import { makeFolder, writeInto } from '@runnel/sim/records'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { checkOption } from '../cli/check-option.ts'
import { writeResults } from '../cli/write-results.ts'
import { heldOf, type HeldRow } from './held.ts'
import { runFill } from './run-fill.ts'
import {
  armOf,
  whereOf,
  whereOptions,
  whereParameters,
  whole,
  type WhereArguments,
} from './session-arguments.ts'
import { fillBoundMs, sessionArms, usualLimits, type FillOptions } from './session-plan.ts'
import { sessionsCsv, sessionsFigure, type ArmPoint } from './sessions-figure.ts'
import { sourceHeldTable } from './source-003.ts'

interface SessionsArguments extends WhereArguments {
  readonly arms: string
  readonly members: string
  readonly sessions: number
  readonly window: number
  readonly warmUp: number
  readonly budget: number
  readonly check: boolean
  readonly json: boolean
  readonly out: string | undefined
}

const experiment = 'sessions'
const columns = [
  ...(['members', 'arm', 'sessions', 'users', 'joined', 'fullySending', 'cpuPercent', 'memoryMiB'] as const),
  ...(['sentPercent', 'kbitPerSOfUser', 'elapsedS', 'endedBy'] as const),
] satisfies (keyof HeldRow)[]

/** `emulate sessions`: how many sessions of users who all send and receive a machine holds, by how the users are made (source 003). */
export function sessionsCommand(signal: AbortSignal): CommandModule<object, SessionsArguments> {
  return {
    command: experiment,
    describe: 'how many sessions of sound and pictures a machine holds, by kind of user (source 003)',
    builder: {
      arms: {
        type: 'string',
        default: sessionArms.join(','),
        describe: 'kinds of users, one after the other',
      },
      members: {
        type: 'string',
        default: '2,3,5,8',
        describe: 'users of a session, one number after the other',
      },
      sessions: { type: 'number', default: 100, describe: 'the most that are added' },
      window: { type: 'number', default: 5, describe: 'seconds that each number of sessions is measured' },
      'warm-up': { type: 'number', default: 3, describe: 'seconds before, after a session has joined' },
      budget: {
        type: 'number',
        default: 300,
        describe: 'seconds of each arm and size, after which no session is added',
      },
      ...whereOptions,
      ...checkOption,
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for the record, JSON, all points, CSV, and the figure' },
    },
    handler: async (argv) => {
      const plans = plansOf(argv)
      const where = whereOf(
        argv,
        plans.map(({ arm }) => arm),
      )
      if (argv.check) return
      if (argv.out !== undefined) makeFolder(argv.out)
      const say = (text: string): void => void process.stderr.write(`${experiment}: ${text}\n`)
      say(`${Math.ceil(plans.reduce((sum, plan) => sum + fillBoundMs(plan), 0) / 60_000)} minutes at most`)
      const [points, held]: [ArmPoint[], HeldRow[]] = [[], []]
      for (const plan of plans) {
        const { arm, members } = plan
        const filled = await runFill(plan, { where, signal }, (point) => {
          points.push({ arm, members, ...point })
          say(`${arm}, ${members} a session: ${JSON.stringify(point)}`)
        })
        held.push(heldOf(plan, filled))
        say(`${arm} leave out: ${filled.leavesOut}`)
      }
      const text = argv.json ? JSON.stringify({ experiment, held, points }) : tables(held)
      process.stdout.write(`${text}\n`)
      if (argv.out !== undefined) await writeAll(argv.out, argv, points, held)
    },
  }
}

async function writeAll(
  folder: string,
  argv: SessionsArguments,
  points: readonly ArmPoint[],
  held: readonly HeldRow[],
): Promise<void> {
  const facts = { load: Math.round((loadavg()[0] ?? 0) * 10) / 10 }
  const { arms, members, sessions, window, warmUp, budget } = argv
  const parameters = { arms, members, sessions, window, warmUp, budget, ...whereParameters(argv) }
  const rows = held.map((row) => ({ ...row }))
  writeResults(folder, { experiment, source: 'emulation', parameters, facts, rows })
  writeInto(folder, `${experiment}.csv`, sessionsCsv(points))
  if (points.length > 0) await writeFigures(folder, [sessionsFigure(experiment, points)])
}

function tables(held: readonly HeldRow[]): string {
  const rows = held.map((row) => columns.map((column) => cellOf(row[column])))
  const sizes = [...new Set(held.map(({ members }) => members))]
  return `${textTable(columns, rows)}\n\n${sourceHeldTable(sizes)}`
}

/** Throws INVALID_ARGUMENT. */
function plansOf(argv: SessionsArguments): readonly FillOptions[] {
  const sizes = argv.members.split(',').map((text) => whole('members', Number(text), 2, 32))
  const maxSessions = whole('sessions', argv.sessions, 1, 500)
  const [windowMs, warmUpMs, budgetMs] = (['window', 'warmUp', 'budget'] as const).map(
    (name) => 1_000 * whole(name, argv[name], 1, 3_600),
  ) as [number, number, number]
  return sizes.flatMap((members) =>
    argv.arms.split(',').map((name) => {
      const arm = armOf(name)
      const times = { windowMs, warmUpMs, budgetMs, holdMs: 0 }
      return { arm, members, maxSessions, limits: usualLimits, measures: 'each' as const, ...times }
    }),
  )
}
