import { recordLimits } from '@runnel/sim/records'
import { emulationError } from '../errors.ts'
import { isLight, sessionArms, type SessionArm } from './session-plan.ts'
import type { Whereabouts } from './start-machine.ts'

/** Throws INVALID_ARGUMENT. */
export function armOf(name: string): SessionArm {
  const arm = sessionArms.find((known) => known === name)
  if (arm === undefined)
    throw emulationError('INVALID_ARGUMENT', `kinds of users are ${sessionArms.join(', ')}`)
  return arm
}

/** Throws INVALID_ARGUMENT. */
export function whole(flag: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw emulationError('INVALID_ARGUMENT', `--${flag} takes whole numbers from ${min} to ${max}`)
}

/** Options that say where users are. */
export interface WhereArguments {
  readonly machines: number | undefined
  readonly worker: readonly string[] | undefined
  readonly listen: string | undefined
}

export const whereOptions = {
  machines: {
    type: 'number',
    describe:
      'machines with light users (1); more than one are emulated as namespaces of this machine, which needs root',
  },
  worker: {
    type: 'string',
    array: true,
    describe:
      'host:port of a runnel bench worker --drivers 500 elsewhere (token in RUNNEL_BENCH_TOKEN), repeated; its processors and memory are not seen',
  },
  listen: { type: 'string', describe: 'address of the tracker, with --worker (127.0.0.1)' },
} as const

/** Throws INVALID_ARGUMENT. */
export function whereOf(
  { machines = 1, worker, listen }: WhereArguments,
  arms: readonly SessionArm[],
): Whereabouts {
  const isElsewhere = worker !== undefined || machines > 1
  const page = arms.find((arm) => !isLight(arm))
  if (isElsewhere && page !== undefined)
    throw emulationError(
      'INVALID_ARGUMENT',
      `${page} is for this machine; --machines and --worker are for light users`,
    )
  if (worker === undefined) {
    if (listen !== undefined) throw emulationError('INVALID_ARGUMENT', '--listen is for --worker')
    return { machines: whole('machines', machines, 1, 16) }
  }
  if (machines !== 1) throw emulationError('INVALID_ARGUMENT', '--machines is not for --worker')
  const token = process.env['RUNNEL_BENCH_TOKEN'] ?? ''
  if (token === '') throw emulationError('INVALID_ARGUMENT', '--worker needs the token in RUNNEL_BENCH_TOKEN')
  return { workers: worker, token, listen: listen ?? '127.0.0.1' }
}

/** These options as a record has them. Texts of a record end: of more workers than it takes the first are named. */
export function whereParameters({ machines, worker, listen }: WhereArguments) {
  return { machines, worker: worker?.join(',').slice(0, recordLimits.maxTextChars), listen }
}
