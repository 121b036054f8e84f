import { mistakeInOptions, type OptionKind } from '@runnel/protocol'
import { clientError } from './errors.ts'

export type { OptionNames } from '@runnel/protocol'

/** Refuses what is no option, and values of the wrong kind. Throws INVALID_ARGUMENT. */
export function checkOptions(
  of: string,
  options: unknown,
  names: Readonly<Record<string, OptionKind>>,
): void {
  const mistake = mistakeInOptions(of, options, names)
  if (mistake !== undefined) throw clientError('INVALID_ARGUMENT', mistake)
}

/** Returns a number of milliseconds to wait, which may be Infinity. Throws INVALID_ARGUMENT for one that is none, such as NaN. */
export function checkTimeout(timeoutMs: number): number {
  if (typeof timeoutMs === 'number' && timeoutMs > 0) return timeoutMs
  throw clientError('INVALID_ARGUMENT', 'timeoutMs is a number above 0')
}
