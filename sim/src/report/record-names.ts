import { resolve, sep } from 'node:path'
import { simError } from '../errors.ts'

/**
 * Names of record files in tables and figures: without `.json`, and with as few of their folders as tell them apart. Throws
 * INVALID_ARGUMENT for a file that is given twice.
 */
export function recordNames(files: readonly string[]): string[] {
  const paths = files.map((file) => resolve(file).replace(/\.json$/, ''))
  const twice = files.find((_, i) => paths.indexOf(paths[i] ?? '') !== i)
  if (twice !== undefined) throw simError('INVALID_ARGUMENT', `${twice} is given twice`)
  for (let parts = 1; ; parts++) {
    const names = paths.map((path) => path.split(sep).slice(-parts).join('/'))
    if (new Set(names).size === names.length) return names
  }
}
