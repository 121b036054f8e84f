import { readdirSync, readFileSync } from 'node:fs'
import { statFieldsOf, tickMs } from '../../../packages/node/src/up/process-stat.ts'

/** What processes take. */
export interface TreeCost {
  readonly cpuMs: number
  /** Shared pages count for each process in part, so that the sum is what all take. */
  readonly memoryBytes: number
  readonly processes: number
}

/** Of all that a process started, and what that started; not of itself. */
export function treeCost(root: number): TreeCost {
  const children = Map.groupBy(allProcesses(), ({ parent }) => parent)
  const found = descendants(root, children)
  return {
    cpuMs: found.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    memoryBytes: found.reduce((sum, { pid }) => sum + memoryBytesOf(pid), 0),
    processes: found.length,
  }
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly cpuMs: number
}

function descendants(pid: number, children: ReadonlyMap<number, readonly Process[]>): readonly Process[] {
  return (children.get(pid) ?? []).flatMap((child) => [child, ...descendants(child.pid, children)])
}

function allProcesses(): readonly Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    const fields = ifThere(() => statFieldsOf(Number(name)))
    if (fields === undefined) return []
    // Of the process itself, and of its children that ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return [{ pid: Number(name), parent: Number(fields[1]), cpuMs: ticks * tickMs }]
  })
}

function memoryBytesOf(pid: number): number {
  const smaps = ifThere(() => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))
  const [, kib = '0'] = /^Pss:\s+(\d+)/m.exec(smaps ?? '') ?? []
  return Number(kib) * 1_024
}

/** A process may have ended meanwhile. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
