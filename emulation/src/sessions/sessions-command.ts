import type { CommandModule } from 'yargs'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { emulationError } from '../errors.ts'
import { writeResults } from '../cli/write-results.ts'
import { runFill } from './run-fill.ts'
import type { FillPoint } from './fill-machine.ts'
import { fillBoundMs, sessionArms, usualLimits, type FillOptions, type SessionArm } from './session-plan.ts'

interface SessionsArguments {
  readonly arms: string
  readonly members: string
  readonly sessions: number
  readonly window: number
  readonly warmUp: number
  readonly budget: number
  readonly json: boolean
  readonly out: string | undefined
}

const experiment = 'sessions'

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
        describe: 'seconds after which no session is added, of each arm and size',
      },
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for the record, CSV and figures' },
    },
    handler: async (argv) => {
      const plans = plansOf(argv)
      const say = (text: string): void => void process.stderr.write(`${experiment}: ${text}\n`)
      say(`${Math.ceil(plans.reduce((sum, plan) => sum + fillBoundMs(plan), 0) / 60_000)} minutes at most`)
      const rows: (FillPoint & { readonly arm: SessionArm; readonly members: number })[] = []
      const held = []
      for (const plan of plans) {
        const { arm, members } = plan
        const filled = await runFill(plan, signal, (point) => {
          say(`${arm}, ${members} a session: ${JSON.stringify(point)}`)
          rows.push({ arm, members, ...point })
        })
        const { endedBy, detail, leavesOut, elapsedS } = filled
        const met = filled.points.filter(
          ({ joinMs, completenessPercent }) =>
            joinMs <= plan.limits.joinMs && completenessPercent >= plan.limits.completenessPercent,
        )
        held.push({
          arm,
          members,
          sessions: met.at(-1)?.sessions ?? 0,
          users: met.at(-1)?.users ?? 0,
          endedBy,
          detail,
          elapsedS,
        })
        say(`${arm} leave out ${leavesOut}`)
      }
      if (argv.out !== undefined)
        writeResults(argv.out, {
          experiment,
          source: 'emulation',
          parameters: {},
          facts: {},
          rows: rows.map((row) => ({ ...row })),
        })
      const columns = ['arm', 'members', 'sessions', 'users', 'endedBy', 'detail', 'elapsedS'] as const
      process.stdout.write(
        `${
          argv.json
            ? JSON.stringify({ experiment, held, rows })
            : textTable(
                columns,
                held.map((one) => columns.map((column) => cellOf(one[column]))),
              )
        }\n`,
      )
    },
  }
}

function plansOf(argv: SessionsArguments): readonly FillOptions[] {
  const arms = argv.arms.split(',').map((one) => {
    const arm = sessionArms.find((known) => known === one)
    if (arm === undefined) throw emulationError('INVALID_ARGUMENT', `--arms is of ${sessionArms.join(', ')}`)
    return arm
  })
  const sizes = argv.members.split(',').map(Number)
  return sizes.flatMap((members) =>
    arms.map((arm) => ({
      ...{ arm, members, maxSessions: argv.sessions, limits: usualLimits },
      ...{ warmUpMs: 1_000 * argv.warmUp, windowMs: 1_000 * argv.window, budgetMs: 1_000 * argv.budget },
    })),
  )
}
