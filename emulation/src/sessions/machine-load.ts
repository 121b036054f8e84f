import { availableParallelism, cpus } from 'node:os'
import { treeCost } from './tree-cost.ts'

/** What a machine did, of all its processors. */
export interface LoadFigures {
  /** By what this process started: users, their tracker, browsers. */
  readonly cpuPercent: number
  readonly memoryMiB: number
  /** By all that runs on the machine. */
  readonly busyPercent: number
}

/** Watches this machine, and what this process has started on it. */
export class MachineLoad {
  #startMs = performance.now()
  #treeCpuMs = 0
  #ticks = ticks()

  restart(): void {
    this.#startMs = performance.now()
    this.#treeCpuMs = treeCost(process.pid).cpuMs
    this.#ticks = ticks()
  }

  /** Since it was restarted. */
  figures(): LoadFigures {
    const { cpuMs, memoryBytes } = treeCost(process.pid)
    const allMs = (performance.now() - this.#startMs) * availableParallelism()
    const { idle, all } = ticks()
    return {
      cpuPercent: Math.round((100 * (cpuMs - this.#treeCpuMs)) / allMs),
      memoryMiB: Math.round(memoryBytes / 2 ** 20),
      busyPercent: Math.round(100 * (1 - (idle - this.#ticks.idle) / (all - this.#ticks.all))),
    }
  }
}

function ticks(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times)
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, time) => sum + Object.values(time).reduce((a, b) => a + b, 0), 0),
  }
}
