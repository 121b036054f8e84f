import { mistakeInOptions, type OptionKind } from '@runnel/protocol'
import { mediaError } from './errors.ts'

export type { OptionNames } from '@runnel/protocol'

/** Refuses what is no option, and values of the wrong kind. Throws OPTIONS_INVALID. */
export function checkOptions(
  of: string,
  options: unknown,
  names: Readonly<Record<string, OptionKind>>,
): void {
  const mistake = mistakeInOptions(of, options, names)
  if (mistake !== undefined) throw mediaError('OPTIONS_INVALID', mistake)
}
