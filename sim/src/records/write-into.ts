import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { simError } from '../errors.ts'
import { makeFolder } from './make-folder.ts'

/** Writes a file into a folder, which is made where it is missing: whole, or not at all. Gives its path. Throws OUT_UNWRITABLE. */
export function writeInto(folder: string, name: string, content: string | Uint8Array): string {
  makeFolder(folder)
  const path = join(folder, name)
  const begun = `${path}.${process.pid}`
  try {
    writeFileSync(begun, content)
    renameSync(begun, path)
    return path
  } catch (cause) {
    rmSync(begun, { force: true })
    throw simError('OUT_UNWRITABLE', `${path} (${String((cause as NodeJS.ErrnoException).code)})`, { cause })
  }
}
