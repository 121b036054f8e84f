import type { Options } from 'yargs'
import { benchError } from '../errors.ts'

/** Of what is given twice yargs makes a list: throws INVALID_ARGUMENT where an option is none. */
export function refuseRepeated(
  options: Readonly<Record<string, Options>>,
  given: Readonly<Record<string, unknown>>,
): void {
  for (const [name, { type }] of Object.entries(options))
    if (type !== 'array' && Array.isArray(given[name]))
      throw benchError('INVALID_ARGUMENT', `--${name} is given more than once`)
}
