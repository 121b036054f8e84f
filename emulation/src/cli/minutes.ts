import { checkMinutes, sayBound } from '@runnel/sim/time-bound'
import { within } from '../media/within.ts'

/** Says by when a command ends, and ends it then with TOO_SLOW. Throws INVALID_ARGUMENT before anything is begun. */
export async function withinMinutes<Result>(
  minutes: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  checkMinutes(minutes)
  sayBound(minutes)
  return within(60_000 * minutes, signal, work)
}
