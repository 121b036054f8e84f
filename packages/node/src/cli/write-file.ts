import { writeFileSync } from 'node:fs'
import { nodeError } from '../errors.ts'

/** Writes a file, in place of one there is. Throws DISK_FULL or FILE_UNWRITABLE. */
export function writeTextFile(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw nodeError(code === 'ENOSPC' ? 'DISK_FULL' : 'FILE_UNWRITABLE', `${path} (${code})`, { cause })
  }
}
