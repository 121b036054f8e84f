import { spawnSync } from 'node:child_process'
import { statFieldsOf } from './process-stat.ts'

/** Field 22 of what follows the name, which may have spaces in it (proc(5)). */
const startField = 22 - 3

/** When a process started, as text to compare: a number of a process is given again. Undefined where it cannot be known. */
export function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') return startInProc(pid)
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

function startInProc(pid: number): string | undefined {
  try {
    return statFieldsOf(pid)[startField]
  } catch {
    return undefined
  }
}
