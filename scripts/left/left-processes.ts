import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { statFieldsOf } from '../../packages/node/src/up/process-stat.ts'

/** A process that still runs, as `/proc` has it. */
export interface LeftProcess {
  readonly pid: number
  readonly command: string
}

/** Environment variable that tells which run of the tests a process belongs to. Not RUNNEL_…: tests keep those from what they start. */
export const runVariable = 'STARTED_BY_TEST_RUN'
const lookEveryMs = 100

/**
 * The processes that were started with the variable set to `run`, without this one and its children. Empty where there is no `/proc`.
 * Those of other users cannot be read, and are not among them.
 */
export function leftProcesses(run: string): LeftProcess[] {
  return pids().flatMap((pid) => {
    const marks = read(pid, 'environ').split('\0')
    if (!marks.includes(`${runVariable}=${run}`) || parentOf(pid) === process.pid) return []
    return pid === process.pid ? [] : [{ pid, command: read(pid, 'cmdline').split('\0').join(' ').trim() }]
  })
}

/** Waits until no process of the run is left, for so long at most. Kills those that are then, and gives them. */
export async function endLeftProcesses(run: string, graceMs: number): Promise<LeftProcess[]> {
  const untilMs = performance.now() + graceMs
  while (leftProcesses(run).length > 0 && performance.now() < untilMs) await delay(lookEveryMs)
  const left = leftProcesses(run)
  for (const { pid } of left) kill(pid)
  return left
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** Undefined where it has ended. */
function parentOf(pid: number): number | undefined {
  try {
    return Number(statFieldsOf(pid)[1])
  } catch {
    return undefined
  }
}

/** Empty where it has ended, or is somebody else's. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
