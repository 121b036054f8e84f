import { readFileSync } from 'node:fs'

/** Of /proc: 100 ticks a second on all systems that Node runs on. */
export const tickMs = 10

/**
 * Of `/proc/PID/stat` (proc(5)), the fields from the third on; the name before them may hold spaces and brackets. Throws where there is no
 * such process.
 */
export function statFieldsOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
