import { roomOf } from './room-of.ts'

interface CallFrame {
  readonly functionName: string
  readonly url: string
  /** From 0. */
  readonly lineNumber: number
}

/** What `node --cpu-prof` writes. */
export interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[]
  /** Which node was running, and how many microseconds after the sample before. */
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** What `node --heap-prof` writes: what was allocated and is still there at the end, by who allocated it. */
export interface HeapProfile {
  readonly head: HeapNode
}

interface HeapNode {
  readonly callFrame: CallFrame
  readonly selfSize: number
  readonly children: readonly HeapNode[]
}

/** Shares, the largest first. */
export interface ProfileSummary {
  /** Milliseconds of all processes, or MiB. */
  readonly sum: number
  readonly roomsPercent: Readonly<Record<string, number>>
  /** Functions with the line where they begin. */
  readonly functionsPercent: Readonly<Record<string, number>>
}

const mostFunctions = 20
/** Rooms below it are left out. */
const leastPercent = 0.5

/** Of the time in which the processes did something: what each room and function took itself, without what it called. */
export function summaryOfCpu(profiles: readonly CpuProfile[]): ProfileSummary {
  const costs = new Costs()
  for (const { nodes, samples, timeDeltas } of profiles) {
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
    for (const [i, id] of samples.entries()) {
      const frame = frames.get(id)
      if (frame !== undefined && frame.functionName !== '(idle)')
        costs.add(frame, Math.max(0, timeDeltas[i] ?? 0))
    }
  }
  return costs.summary(1_000)
}

/** Of the bytes that were held at the end: what each room and function allocated. */
export function summaryOfHeap(profiles: readonly HeapProfile[]): ProfileSummary {
  const costs = new Costs()
  const waiting = profiles.map(({ head }) => head)
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    costs.add(node.callFrame, node.selfSize)
    waiting.push(...node.children)
  }
  return costs.summary(2 ** 20)
}

class Costs {
  readonly #rooms = new Map<string, number>()
  readonly #functions = new Map<string, number>()
  #sum = 0

  add(frame: CallFrame, cost: number): void {
    const { functionName, url, lineNumber } = frame
    const name = functionName || '(anonymous)'
    const file = url.split('/').at(-1) ?? ''
    const place = url === '' ? name : `${name} ${file}:${lineNumber + 1}`
    this.#sum += cost
    increase(this.#rooms, roomOf(frame), cost)
    increase(this.#functions, place, cost)
  }

  summary(unit: number): ProfileSummary {
    const rooms = this.#shares(this.#rooms).filter(([, percent]) => percent >= leastPercent)
    const functions = this.#shares(this.#functions).slice(0, mostFunctions)
    return {
      sum: rounded(this.#sum / unit),
      roomsPercent: Object.fromEntries(rooms),
      functionsPercent: Object.fromEntries(functions),
    }
  }

  #shares(costs: ReadonlyMap<string, number>): (readonly [string, number])[] {
    return Array.from(costs, ([name, cost]) => [name, rounded((100 * cost) / this.#sum)] as const).sort(
      (a, b) => b[1] - a[1],
    )
  }
}

const rounded = (value: number): number => Math.round(10 * value) / 10

function increase(costs: Map<string, number>, name: string, cost: number): void {
  costs.set(name, (costs.get(name) ?? 0) + cost)
}
