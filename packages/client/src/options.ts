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
