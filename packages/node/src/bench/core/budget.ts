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
}

/** How long a user may take to take part, however many others do. */
const userMs = 10_000
/** How long closing all users may take. */
const stopMs = 30_000

/** The most that a run takes, from the first user to the last that is closed. */
export function runBoundMs(
  plan: Pick<LoadPlan, 'clients' | 'connectPerS'>,
  { settleMs, warmupMs, durationMs, drainMs }: RunTimes,
): number {
  const joiningMs = (plan.clients / plan.connectPerS) * 1000 * 2 + userMs
  return joiningMs + settleMs + warmupMs + durationMs + drainMs + stopMs
}
