import { readFileSync } from 'node:fs'

const ticksPerS = 100
const pageBytes = 4096

/** User and system time, and resident memory, of a process on Linux, from /proc (proc(5)). */
export function usageOf(pid: number): { cpuUs: number; rssBytes: number } {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const values = fields.split(' ').map(Number)
  const [user = 0, system = 0, rssPages = 0] = [values[11], values[12], values[21]]
  return { cpuUs: ((user + system) * 1e6) / ticksPerS, rssBytes: rssPages * pageBytes }
}
