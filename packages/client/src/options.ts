import { mistakeInOptions } from '@runnel/protocol'
import { clientError } from './errors.ts'

export type { OptionNames } from '@runnel/protocol'

/** Refuses what is no option. Throws INVALID_ARGUMENT. */
export function checkOptions(of: string, options: unknown, names: Readonly<Record<string, true>>): void {
  const mistake = mistakeInOptions(of, options, names)
  if (mistake !== undefined) throw clientError('INVALID_ARGUMENT', mistake)
}
