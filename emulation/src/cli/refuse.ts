import { emulationError } from '../errors.ts'

/** What yargs calls when arguments are wrong or a command failed. Throws INVALID_ARGUMENT for what yargs itself refuses, else the error. */
export function refuse(message: string | null, error: Error | undefined): never {
  if (error !== undefined && error.name !== 'YError') throw error
  throw emulationError('INVALID_ARGUMENT', message ?? error?.message)
}
