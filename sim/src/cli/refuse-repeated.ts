import { simError } from '../errors.ts'
import { repeatedOption } from './repeated-option.ts'

/** Throws INVALID_ARGUMENT where an option that is no list is given twice. */
export function refuseRepeated(argv: Readonly<Record<string, unknown>>): true {
  const name = repeatedOption(argv, 'files')
  if (name !== undefined) throw simError('INVALID_ARGUMENT', `--${name} is given more than once`)
  return true
}
