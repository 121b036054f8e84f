import type { NodeId, Status, StreamPartId } from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'

/** What a node of a resting stream part last reported. */
export interface RestingNode {
  status: Status
  /** Whether it offered to store the stream part. */
  storing: boolean
}

type RestingNodes = Map<NodeId, RestingNode>

interface Faults {
  /** Number of faults in a row. */
  count: number
  lastAt: number
}

/**
 * Stream parts that had a fault. Each rests for a while, longer after more faults in a row, and is then built anew from what
 * its nodes last reported.
 */
export class RestingParts {
  readonly #limits: Pick<TrackerLimits, 'minFaultRestMs' | 'maxFaultRestMs' | 'faultForgetMs'>
  readonly #resting = new Map<StreamPartId, { readonly untilAt: number; readonly nodes: RestingNodes }>()
  /** Stream parts that rest, or did a while ago. */
  readonly #faults = new Map<StreamPartId, Faults>()

  constructor(limits: Pick<TrackerLimits, 'minFaultRestMs' | 'maxFaultRestMs' | 'faultForgetMs'>) {
    this.#limits = limits
  }

  /** When the next rest is over; Infinity when none is. */
  get dueMs(): number {
    let dueMs = Infinity
    for (const { untilAt } of this.#resting.values()) dueMs = Math.min(dueMs, untilAt)
    return dueMs
  }

  get ids(): Iterable<StreamPartId> {
    return this.#resting.keys()
  }

  has(id: StreamPartId): boolean {
    return this.#resting.has(id)
  }

  nodesOf(id: StreamPartId): RestingNodes | undefined {
    return this.#resting.get(id)?.nodes
  }

  /** There was a fault in it. */
  add(id: StreamPartId, nodes: RestingNodes, nowMs: number): void {
    const { minFaultRestMs, maxFaultRestMs, faultForgetMs } = this.#limits
    for (const [known, { lastAt }] of this.#faults)
      if (nowMs - lastAt >= faultForgetMs) this.#faults.delete(known)
    const count = (this.#faults.get(id)?.count ?? 0) + 1
    this.#faults.set(id, { count, lastAt: nowMs })
    const restMs = Math.min(maxFaultRestMs, minFaultRestMs * 2 ** Math.min(30, count - 1))
    this.#resting.set(id, { untilAt: nowMs + restMs, nodes })
  }

  /** The node left the tracker. */
  forget(nodeId: NodeId): void {
    for (const { nodes } of this.#resting.values()) nodes.delete(nodeId)
  }

  /** Ends the rest and returns its nodes. */
  take(id: StreamPartId): RestingNodes | undefined {
    const nodes = this.nodesOf(id)
    this.#resting.delete(id)
    return nodes
  }

  /** Those whose rest is over. */
  due(nowMs: number): StreamPartId[] {
    return [...this.#resting].flatMap(([id, { untilAt }]) => (untilAt <= nowMs ? [id] : []))
  }

  clear(): void {
    this.#resting.clear()
    this.#faults.clear()
  }
}
