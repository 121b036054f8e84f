import { readFileSync } from 'node:fs'

/** A tick of /proc: 100 a second on all systems that Node runs on. */
export const tickMs = 10
const pageBytes = 4096
/** The first of the fields after the name. */
const firstField = 3

/**
 * Of `/proc/PID/stat` (proc(5)), the fields from the third on; the name before them may hold spaces and brackets. Throws where there is no
 * such process, or no /proc.
 */
export function statFieldsOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** User and system time of a process since it started, and its resident memory. Throws as `statFieldsOf`. */
export function usageOf(pid: number): { readonly cpuMs: number; readonly rssBytes: number } {
  const fields = statFieldsOf(pid)
  const field = (number: number) => Number(fields[number - firstField])
  return { cpuMs: (field(14) + field(15)) * tickMs, rssBytes: field(24) * pageBytes }
}
