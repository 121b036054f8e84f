import { FaultBoundary, type NodeId, type Status, type StreamPartId } from '@runnel/protocol'
import type { CoreState } from './core-state.ts'
import type { NodeRecord } from './node-record.ts'
import type { RestingNode } from './resting-parts.ts'
import type { StreamPart } from './stream-part.ts'
import type { TrackerEvent } from './tracker-events.ts'

/** Keeps an error in the work of one stream part, or about one node, from ending anything else. */
export class PartFaults {
  readonly #state: CoreState
  readonly #boundary = new FaultBoundary<StreamPart>((part, error) => this.#failed(part, error))

  constructor(state: CoreState) {
    this.#state = state
  }

  /**
   * Does some work of a stream part. What it throws ends the stream part, which rests and is then built anew; within other work
   * of the same stream part it ends that as well.
   */
  within<T>(part: StreamPart, work: () => T): T | undefined {
    return this.#boundary.within(part, work)
  }

  /** Discards everything of the stream part except what its nodes would report, and a replica says; they notice nothing. */
  #failed(part: StreamPart, error: unknown): void {
    const { id } = part
    this.#state.counters.count('streamPartFaults')
    const nodes = this.#lastSaid(part)
    this.#state.parts.delete(id)
    this.#state.partPlaces.delete(part)
    this.#state.touched.delete(part)
    this.#state.improver.delete(part)
    this.#state.schedule.forgetPart(part)
    for (const member of part.members.values()) this.#state.schedule.resend.delete(member)
    for (const nodeId of [...this.#state.storage.nodes(id)]) this.#state.storage.delete(nodeId, id)
    for (const node of this.#state.nodes.values()) {
      node.parts.delete(part)
      node.unconfirmed.delete(part)
      if (nodes.has(node.nodeId)) node.resting.add(id)
    }
    this.#state.resting.add(id, nodes, this.#state.nowMs)
    this.#state.listeners.onFault({ streamPartId: id, error })
  }

  #lastSaid(part: StreamPart): Map<NodeId, RestingNode> {
    const stores = new Set(this.#state.storage.nodes(part.id))
    const nodes = new Map<NodeId, RestingNode>()
    try {
      for (const { nodeId, status } of part.statuses()) {
        // An instruction may be in flight: later ones have to be newer.
        const counter = Math.max(status.counter, part.members.get(nodeId)?.counter ?? 0)
        nodes.set(nodeId, { status: { ...status, counter }, storing: stores.has(nodeId) })
      }
    } catch {
      // They connect again, and report without being asked.
      for (const nodeId of part.members.keys()) this.#refuseForFault(nodeId)
    }
    return nodes
  }

  partFault(id: StreamPartId, error: unknown): void {
    const part = this.#state.parts.get(id)
    if (part !== undefined) return this.#failed(part, error)
    this.#state.counters.count('streamPartFaults')
    this.#state.listeners.onFault({ streamPartId: id, error })
  }

  /** An error that belongs to no stream part closes the connection of the node that the event is about. */
  eventFailed(event: TrackerEvent, error: unknown): void {
    const nodeId = event.type === 'packet' ? event.from : 'nodeId' in event ? event.nodeId : undefined
    this.#state.counters.count(nodeId === undefined ? 'otherFaults' : 'connectionFaults')
    if (nodeId !== undefined) this.#refuseForFault(nodeId)
    this.#state.listeners.onFault({ ...(nodeId !== undefined && { nodeId }), error })
  }

  #refuseForFault(nodeId: NodeId): void {
    const node = this.#state.nodes.get(nodeId)
    if (node !== undefined) this.#state.outbox.refuse(node, 'TRACKER_FAULT')
  }

  takeResting(id: StreamPartId): ReadonlyMap<NodeId, RestingNode> {
    const nodes = this.#state.resting.take(id) ?? new Map<NodeId, RestingNode>()
    for (const nodeId of nodes.keys()) this.#state.nodes.get(nodeId)?.resting.delete(id)
    return nodes
  }

  /** Until the stream part is built anew. */
  keepStatus(node: NodeRecord, status: Status): void {
    const { streamPartId: id } = status
    const nodes = this.#state.resting.nodesOf(id)
    const known = nodes?.get(node.nodeId)
    if (known !== undefined) known.status = status
    else if (node.parts.size + node.resting.size >= this.#state.limits.maxStreamPartsPerNode) {
      this.#state.counters.count('streamPartsRefused')
      this.#state.outbox.error(node, 'TOO_MANY_STREAM_PARTS', id)
    } else {
      nodes?.set(node.nodeId, { status, storing: false })
      node.resting.add(id)
    }
  }
}
