import { nodeError } from '../errors.ts'

/** Throws USAGE unless the value of an option is a whole number in a range, both ends included. */
export function checkRange(option: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw nodeError('USAGE', `--${option} takes a whole number from ${min} to ${max}`)
}
