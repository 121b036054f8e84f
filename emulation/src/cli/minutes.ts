import { maxMinutes, sayBound } from '@runnel/sim/time-bound'
import { emulationError } from '../errors.ts'
import { within } from '../media/within.ts'

/** `--minutes`, as an option of a command. */
export function minutesOption(usual: number) {
  return { minutes: { type: 'number', default: usual, describe: 'after which it fails' } } as const
}

/** Says by when a command ends, and ends it then with TOO_SLOW. Throws INVALID_ARGUMENT before anything is begun. */
export async function withinMinutes<Result>(
  minutes: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (!Number.isSafeInteger(minutes) || minutes < 1 || minutes > maxMinutes)
    throw emulationError('INVALID_ARGUMENT', `--minutes is a whole number from 1 to ${maxMinutes}`)
  sayBound(minutes)
  return within(60_000 * minutes, signal, work)
}
