import { mistakeInOptions } from '@runnel/protocol'
import { mediaError } from './errors.ts'

export type { OptionNames } from '@runnel/protocol'

/** Refuses what is no option. Throws OPTIONS_INVALID. */
export function checkOptions(of: string, options: unknown, names: Readonly<Record<string, true>>): void {
  const mistake = mistakeInOptions(of, options, names)
  if (mistake !== undefined) throw mediaError('OPTIONS_INVALID', mistake)
}
