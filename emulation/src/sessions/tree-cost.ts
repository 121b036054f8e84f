import { readdirSync, readFileSync } from 'node:fs'

/** Ticks a second of /proc: 100 on all systems that Node runs on. */
const tickMs = 10

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
    const stat = /^\d+$/.test(name) ? readIfThere(`/proc/${name}/stat`) : ''
    // The name may hold spaces and brackets; behind it are the fields from the third on (proc(5)), and the time of children that ended.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields.length < 15) return []
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return [{ pid: Number(name), parent: Number(fields[1]), cpuMs: ticks * tickMs }]
  })
}

function memoryBytesOf(pid: number): number {
  const [, kib = '0'] = /^Pss:\s+(\d+)/m.exec(readIfThere(`/proc/${pid}/smaps_rollup`)) ?? []
  return Number(kib) * 1_024
}

/** A process may have ended meanwhile. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
