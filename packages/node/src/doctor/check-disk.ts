import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { failure, failureOf, ok, warning, type Finding } from './finding.ts'

const mib = 2 ** 20

/** With less nothing works for long. */
const tooLittleBytes = 64 * mib

/** With less a log or an upgrade may fill it. */
const littleBytes = 512 * mib

export interface DiskOptions {
  /** Where the node keeps its data; it need not be there yet. */
  readonly directory: string
  /** The most it may keep there; 0 for next to nothing. */
  readonly maxBytes: number
  /** What it keeps there already: a file, or nothing. */
  readonly file: string | undefined
}

/** Whether the node can write its data, and has room for it. */
export function checkDisk({ directory, maxBytes, file }: DiskOptions): Finding {
  const place = existing(resolve(directory))
  try {
    accessSync(place, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = statfsSync(place)
    const usedBytes = file !== undefined && existsSync(file) ? statSync(file).size : 0
    return judge(place, bavail * bsize, maxBytes - usedBytes)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EROFS') return failureOf('disk', error)
    return failure(
      'disk',
      `${place} cannot be written (${code})`,
      'Make the user of the node its owner: chown.',
    )
  }
}

/** What so many free bytes mean for a node that may write so many more. */
export function judge(place: string, freeBytes: number, moreBytes: number): Finding {
  const free = `${place} has ${inMib(freeBytes)} free`
  const remedy = 'Free some space, use another disk, or lower storage.maxBytes.'
  if (freeBytes < tooLittleBytes) return failure('disk', free, remedy)
  if (freeBytes < littleBytes) return warning('disk', free, remedy)
  if (freeBytes < moreBytes)
    return warning('disk', `${free}, and storage may take ${inMib(moreBytes)} more`, remedy)
  return ok('disk', free)
}

/** The directory, or the nearest above it that there is. */
function existing(directory: string): string {
  return existsSync(directory) ? directory : existing(dirname(directory))
}

function inMib(bytes: number): string {
  return bytes < 10_240 * mib ? `${Math.floor(bytes / mib)} MiB` : `${Math.floor(bytes / mib / 1_024)} GiB`
}
