import { usageOf } from '../../up/process-stat.ts'

/** CPU time that another process has used, in milliseconds; undefined where it ended, or the system does not say. */
function cpuMsOf(pid: number): number | undefined {
  try {
    return usageOf(pid).cpuMs
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
