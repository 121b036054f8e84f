import { nodeError } from '../../errors.ts'
import type { LoadPlan } from './plan.ts'

/** How long the parts of a run may take, in milliseconds. */
export interface RunTimes {
  /** Of the overlays to settle, after all have joined. */
  readonly settleMs: number
  /** Sending before it is measured. */
  readonly warmupMs: number
  /** Of sending that is measured. */
  readonly durationMs: number
  /** Of what was sent to arrive, after the last. */
  readonly drainMs: number
  /** Of what readers will read to be stored before the first user is; 0 where they read nothing. */
  readonly prepareMs: number
}

/** How long a user may take to take part, however many others do. */
const userMs = 10_000
/** How long closing all users may take, with what generators say before, and what is killed after. */
const stopMs = 30_000
/** How long generators may take to say what they measured, or what was missing, when a run was cut short. */
export const lastWordMs = 5_000
/** How long worker processes of this machine may take to end before they are killed. */
export const workerGraceMs = 10_000
/** How long closing all users may take, with the word of it from other processes. */
export const closeBoundMs = stopMs - lastWordMs - workerGraceMs
/** Of that, how long what the users of one process share may take to close. */
export const closeSharedMs = 2_000
/** How long the users of one process may take to close before they are left; a node process is killed before. */
export const closeUsersMs = closeBoundMs - closeSharedMs - 1_000

/** The longest that timers of Node wait. */
const maxTimerMs = 2_147_483_647

/** The most that a run takes, from the first user to the last that is closed; whole milliseconds, as timers want them. */
export function runBoundMs(plan: Pick<LoadPlan, 'clients' | 'connectPerS'>, times: RunTimes): number {
  return workBoundMs(plan, times) + stopMs
}

/** Of that, what comes before the users are closed. */
export function workBoundMs(
  plan: Pick<LoadPlan, 'clients' | 'connectPerS'>,
  { settleMs, warmupMs, durationMs, drainMs, prepareMs }: RunTimes,
): number {
  const joiningMs = (plan.clients / plan.connectPerS) * 1000 * 2 + userMs
  // Sending takes longer where the generator cannot keep up, which the verdict says if the run is not cut before.
  const sendingMs = 2 * (warmupMs + durationMs)
  return Math.ceil(prepareMs + joiningMs + settleMs + sendingMs + drainMs)
}

/** Throws USAGE for a bound that no timer can keep. */
export function requireBound(boundMs: number): void {
  if (boundMs <= maxTimerMs) return
  throw nodeError(
    'USAGE',
    'this could take more than 24 days: lower --clients, --duration or --steps, or raise --connrate',
  )
}
