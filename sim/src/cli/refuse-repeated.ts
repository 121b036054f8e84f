import { simError } from '../errors.ts'

/** What may be given several times: `_` is the name of the experiment. */
const lists = new Set(['_', 'files'])

/** Of what is given twice yargs makes a list, which no option but these is. Throws INVALID_ARGUMENT. */
export function refuseRepeated(argv: Readonly<Record<string, unknown>>): true {
  for (const [name, value] of Object.entries(argv))
    if (Array.isArray(value) && !lists.has(name))
      throw simError('INVALID_ARGUMENT', `--${name} is given more than once`)
  return true
}
