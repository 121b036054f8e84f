import { clientError } from './errors.ts'

/** Every option of a type, so that a list of them cannot lack one. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>

/** Refuses what is no option, mostly a misspelt one, which would have no effect. Throws INVALID_ARGUMENT. */
export function checkOptions(of: string, options: unknown, names: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null)
    throw clientError('INVALID_ARGUMENT', `${of} takes an object of options`)
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name))
  if (unknown === undefined) return
  const known = Object.keys(names).join(', ')
  throw clientError('INVALID_ARGUMENT', `${of} has no option "${unknown.slice(0, 40)}"; it has ${known}`)
}
