import type { CommandModule } from 'yargs'
import { makeFolder } from '@runnel/sim/records'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { checkOption } from '../cli/check-option.ts'
import { writeResults } from '../cli/write-results.ts'
import { emulationError } from '../errors.ts'
import { finalPlan, priceUsd, type FinalPlan } from './final-cost.ts'
import { isWithin } from './held.ts'
import { runFill } from './run-fill.ts'
import {
  armOf,
  whereOf,
  whereOptions,
  whereParameters,
  whole,
  type WhereArguments,
} from './session-arguments.ts'
import { fillBoundMs, usualLimits, type FillOptions } from './session-plan.ts'
import { sourceFinalTable } from './source-003.ts'

interface CostArguments extends WhereArguments {
  readonly held: string
  readonly members: number
  readonly users: number
  readonly hold: number
  readonly machinePrice: number
  readonly machineName: string
  readonly check: boolean
  readonly json: boolean
  readonly out: string | undefined
}

const experiment = 'sessions-cost'
const warmUpMs = 3_000
const windowMs = 1_000
/** Of filling a machine, before it is held. */
const budgetMs = 300_000
const columns = [
  ...(['arm', 'sessionsPerMachine', 'machines', 'sessions', 'users', 'minutes', 'usd'] as const),
  ...(['cpuPercent', 'memoryMiB', 'completenessPercent', 'sentPercent', 'joinMs', 'isWithinLimits'] as const),
]

/** `emulate sessions-cost`: the final experiment of source 003. One machine is run for real; all cost as much. */
export function sessionsCostCommand(signal: AbortSignal): CommandModule<object, CostArguments> {
  return {
    command: experiment,
    describe: 'machine cost of about a hundred users, with machines at 70 % of their capacity (decision 070)',
    builder: {
      held: {
        type: 'string',
        demandOption: true,
        describe: 'sessions that a machine holds, by kind of user: headless=1,light-websocket=8',
      },
      members: { type: 'number', default: 5, describe: 'users of a session' },
      users: { type: 'number', default: 100, describe: 'users in all, about' },
      hold: { type: 'number', default: 60, describe: 'seconds that all sessions are measured' },
      'machine-price': { type: 'number', default: 0.1824, describe: 'US dollars an hour' },
      'machine-name': { type: 'string', default: 't3.xlarge', describe: 'whose price that is' },
      ...whereOptions,
      ...checkOption,
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for the record, JSON' },
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
      for (const plan of plans) say(planText(plan, argv))
      const rows: Awaited<ReturnType<typeof runPlan>>[] = []
      for (const plan of plans) rows.push(await runPlan(plan, argv, { where, signal }))
      const table = textTable(
        columns,
        rows.map((row) => columns.map((column) => cellOf(row[column]))),
      )
      process.stdout.write(
        `${argv.json ? JSON.stringify({ experiment, rows }) : `${table}\n\n${sourceFinalTable()}`}\n`,
      )
      const { held, members, users, hold, machinePrice, machineName } = argv
      const plan = { held, members, users, hold, machinePrice, machineName }
      const parameters = { ...plan, ...whereParameters(argv) }
      if (argv.out !== undefined)
        writeResults(argv.out, { experiment, source: 'emulation', parameters, facts: {}, rows })
    },
  }
}

async function runPlan(plan: FinalPlan, argv: CostArguments, how: Parameters<typeof runFill>[1]) {
  const filled = await runFill(optionsOf(plan, argv), how, () => {})
  const last = filled.points.at(-1)
  const minutes = Math.round((10 * filled.elapsedS) / 60) / 10
  const isWithinLimits =
    last?.sessions === plan.sessionsPerMachine && filled.points.every((one) => isWithin(one, usualLimits))
  // A machine that does not hold what it was given has no price.
  const usd = isWithinLimits ? priceUsd(plan.machines, minutes, argv.machinePrice) : null
  return { ...last, ...plan, minutes, usd, isWithinLimits }
}

function planText(plan: FinalPlan, argv: CostArguments): string {
  const { arm, machines, sessions, users, sessionsPerMachine } = plan
  const minutes = Math.ceil(fillBoundMs(optionsOf(plan, argv)) / 60_000)
  const usd = priceUsd(machines, minutes, argv.machinePrice)
  return `${arm}: ${users} users in ${sessions} sessions, ${sessionsPerMachine} a machine, on ${machines} ${argv.machineName}: at most ${minutes} minutes, USD ${usd}; one machine is run`
}

function optionsOf({ arm, members, sessionsPerMachine }: FinalPlan, { hold }: CostArguments): FillOptions {
  const times = { warmUpMs, windowMs, budgetMs, holdMs: 1_000 * hold }
  return { arm, members, maxSessions: sessionsPerMachine, limits: usualLimits, measures: 'last', ...times }
}

/** Throws INVALID_ARGUMENT. */
function plansOf({ held, members, users, hold, machinePrice }: CostArguments): readonly FinalPlan[] {
  whole('members', members, 2, 32)
  whole('users', users, 2, 100_000)
  whole('hold', hold, 1, 3_600)
  if (!(machinePrice > 0 && machinePrice < Infinity))
    throw emulationError('INVALID_ARGUMENT', '--machine-price is above 0')
  const plans = held.split(',').map((one) => {
    const [name = '', number = ''] = one.split('=')
    return finalPlan({ arm: armOf(name), held: whole('held', Number(number), 1, 500), members, users })
  })
  if (new Set(plans.map(({ arm }) => arm)).size < plans.length)
    throw emulationError('INVALID_ARGUMENT', '--held names a kind of user more than once')
  return plans
}
