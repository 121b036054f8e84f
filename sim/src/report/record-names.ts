import { resolve, sep } from 'node:path'
import { simError } from '../errors.ts'

/**
 * Names of record files in tables and figures: the last part of the path in which they differ, without `.json`, and with as few of the folders
 * above it as tell them apart. Throws INVALID_ARGUMENT for a file that is given twice.
 */
export function recordNames(files: readonly string[]): string[] {
  const paths = files.map((file) => resolve(file).replace(/\.json$/, ''))
  const twice = files.find((_, i) => paths.indexOf(paths[i] ?? '') !== i)
  if (twice !== undefined) throw simError('INVALID_ARGUMENT', `${twice} is given twice`)
  let parts = paths.map((path) => path.split(sep))
  while (parts.length > 1 && new Set(parts.map((some) => some.at(-1))).size === 1)
    parts = parts.map((some) => some.slice(0, -1))
  for (let count = 1; ; count++) {
    const names = parts.map((some) => some.slice(-count).join('/'))
    if (new Set(names).size === names.length) return names
  }
}
