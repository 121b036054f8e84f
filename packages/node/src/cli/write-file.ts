import { closeSync, existsSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { nodeError } from '../errors.ts'

/** Writes a file, in place of one there is. Throws DISK_FULL or FILE_UNWRITABLE. */
export function writeTextFile(path: string, text: string): void {
  orUnwritable(path, () => writeFileSync(path, text))
}

/** Changes no file, and leaves none that was not there. Throws DISK_FULL or FILE_UNWRITABLE for one that cannot be written. */
export function requireWritable(path: string): void {
  orUnwritable(path, () => {
    const isNew = !existsSync(path)
    closeSync(openSync(path, 'a'))
    // A link may have named a file that was not there.
    if (isNew) rmSync(realpathSync(path))
  })
}

function orUnwritable(path: string, work: () => void): void {
  try {
    work()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw nodeError(code === 'ENOSPC' ? 'DISK_FULL' : 'FILE_UNWRITABLE', `${path} (${code})`, { cause })
  }
}
