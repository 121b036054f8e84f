import { repeatedOption } from '@runnel/sim/repeated-option'
import { emulationError } from '../errors.ts'

/** Throws INVALID_ARGUMENT where an option that is no list is given twice. */
export function refuseRepeated(argv: Readonly<Record<string, unknown>>): true {
  const name = repeatedOption(argv, 'worker')
  if (name !== undefined) throw emulationError('INVALID_ARGUMENT', `--${name} is given more than once`)
  return true
}
