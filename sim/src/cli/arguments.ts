import { simError } from '../errors.ts'

/** Throws INVALID_ARGUMENT unless each is a whole number from 1 to `max`. */
export function wholeNumbers(values: Readonly<Record<string, number>>, max: number): void {
  for (const [name, value] of Object.entries(values))
    if (!Number.isSafeInteger(value) || value < 1 || value > max)
      throw simError('INVALID_ARGUMENT', `--${name} is a whole number from 1 to ${max}`)
}
