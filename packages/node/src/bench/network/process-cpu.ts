import { readFileSync } from 'node:fs'

/** Ticks a second of /proc: 100 on all systems that Node runs on. */
const ticksPerS = 100
/** Fields 14 and 15 of what follows the name, which may have spaces in it (proc(5)). */
const userField = 14 - 3

/** CPU time that another process has used, in milliseconds; undefined where it ended, or the system does not say. */
function cpuMsOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return ((Number(fields[userField]) + Number(fields[userField + 1])) * 1000) / ticksPerS
  } catch {
    return undefined
  }
}

/** Watches what share of a core another process uses. */
export class ProcessCpu {
  readonly #pid: number
  #cpuMs: number | undefined
  #atMs = performance.now()

  constructor(pid: number) {
    this.#pid = pid
    this.#cpuMs = cpuMsOf(pid)
  }

  /** Since it was asked before. */
  share(): number | undefined {
    const [cpuMs, atMs] = [cpuMsOf(this.#pid), performance.now()]
    const [beforeMs, fromMs] = [this.#cpuMs, this.#atMs]
    this.#cpuMs = cpuMs
    this.#atMs = atMs
    if (cpuMs === undefined || beforeMs === undefined || atMs <= fromMs) return undefined
    return (cpuMs - beforeMs) / (atMs - fromMs)
  }
}
