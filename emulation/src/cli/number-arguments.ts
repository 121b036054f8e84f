import { emulationError } from '../errors.ts'

/** The value of `--name`, a whole number. Throws INVALID_ARGUMENT. */
export function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isSafeInteger(value)) return checked(name, value, min, max)
  throw emulationError('INVALID_ARGUMENT', `--${name} is a whole number from ${min} to ${max}`)
}

/** The value of `--name`. Throws INVALID_ARGUMENT. */
export function checked(name: string, value: number, min: number, max: number): number {
  if (value >= min && value <= max) return value
  throw emulationError('INVALID_ARGUMENT', `--${name} is from ${min} to ${max}`)
}
