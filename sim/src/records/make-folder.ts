import { accessSync, constants, mkdirSync } from 'node:fs'
import { simError } from '../errors.ts'

/** Makes the folder for a record, before anything is measured. Throws OUT_UNWRITABLE. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
  } catch (cause) {
    throw simError('OUT_UNWRITABLE', folder, { cause })
  }
}
