import {
  parseStreamPartId,
  type NodeId,
  type NodeToTracker,
  type Status,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { ClusterLimits } from '../limits.ts'
import type { ClusterCounterName } from './cluster-counters.ts'
import { HeldPackets, type PartPacket } from './held-packets.ts'
import { isolated, type FaultModules } from './isolated.ts'
import { Leadership, type LeadershipModules } from './leadership.ts'

/** What the router has others do, and asks of them. When it is known which trackers a stream names, `streamKnown` follows. */
export interface PartRouterModules extends LeadershipModules, FaultModules {
  /** Whether this tracker leads a stream part now. */
  leads(id: StreamPartId): boolean
  ledParts(): Iterable<StreamPartId>
  /** A node reports a stream part that is led here from now on: what was replicated of it should come first. */
  prepare(status: Status): void
  /** Tells a node who leads. */
  redirect(nodeId: NodeId, streamPartId: StreamPartId, leaderId: NodeId): void
  /** Another tracker leads from now on, and all nodes are told so. */
  handOver(streamPartId: StreamPartId, leaderId: NodeId): void
  /** A packet that was held is for this tracker. */
  toCore(nodeId: NodeId, packet: NodeToTracker): void
  count(name: ClusterCounterName): void
}

/**
 * Which packets of nodes are for this tracker, and which nodes are sent to an earlier one that can be reached from here: there
 * is one overlay of a stream part. Pure: what happens comes in, what is to be done goes out through `PartRouterModules`.
 */
export class PartRouter {
  readonly #modules: PartRouterModules
  readonly #leadership: Leadership
  readonly #held = new HeldPackets()

  constructor(limits: Pick<ClusterLimits, 'handOverAfterMs'>, modules: PartRouterModules) {
    this.#modules = modules
    this.#leadership = new Leadership(limits, modules)
  }

  /** When `tick` has something to do; Infinity when nothing is waited for. */
  get dueMs(): number {
    return this.#leadership.dueMs
  }

  /** Who is responsible for a stream part, the one that should lead first. */
  order(id: StreamPartId): readonly NodeId[] {
    return this.#leadership.order(id)
  }

  /** A packet of a connected node. True when it is taken care of: it is not for this tracker, or not yet. */
  takes(from: NodeId, packet: NodeToTracker): boolean {
    if (!('streamPartId' in packet)) return false
    const { streamPartId: id } = packet
    if (this.#modules.leads(id)) return false
    const { streamId } = parseStreamPartId(id)
    const { self, ownTrackers } = this.#modules
    // The stream's own trackers would go before; where this tracker is the first either way, nothing has to wait for them.
    if (ownTrackers(streamId) === undefined && this.order(id)[0] !== self) {
      this.#held.add(streamId, from, packet)
      return true
    }
    const leaderId = this.#leadership.leader(id)
    if (leaderId !== self) this.#redirect(from, packet, leaderId)
    else if (packet.type === 'status') this.#modules.prepare(packet)
    return leaderId !== self
  }

  /** The node is not connected any more. */
  gone(nodeId: NodeId): void {
    this.#held.forget(nodeId)
  }

  linked(tracker: NodeId, nowMs: number): void {
    this.#leadership.linked(tracker, nowMs)
  }

  unlinked(tracker: NodeId): void {
    this.#leadership.unlinked(tracker)
  }

  /** The registry changed. */
  registryChanged(): void {
    this.#reviewAll()
  }

  /** It is known which trackers a stream names. */
  streamKnown(streamId: StreamId): void {
    for (const id of [...this.#modules.ledParts()])
      if (parseStreamPartId(id).streamId === streamId) this.#review(id)
    for (const { from, packet } of this.#held.take(streamId)) {
      isolated({ nodeId: from }, this.#modules, () => {
        if (!this.takes(from, packet)) this.#modules.toCore(from, packet)
      })
    }
  }

  tick(nowMs: number): void {
    if (this.#leadership.settle(nowMs)) this.#reviewAll()
  }

  /** Who leaves, or offers nothing any more, has nothing to tell the leader that it did not tell it. */
  #redirect(from: NodeId, packet: PartPacket, leaderId: NodeId): void {
    if (packet.type !== 'status' && packet.type !== 'findStorage') return
    this.#modules.count('redirects')
    this.#modules.redirect(from, packet.streamPartId, leaderId)
  }

  #reviewAll(): void {
    for (const id of [...this.#modules.ledParts()]) this.#review(id)
  }

  /** Hands a stream part over when another tracker should lead it. */
  #review(id: StreamPartId): void {
    isolated({ streamPartId: id }, this.#modules, () => {
      const { self, handOver, count } = this.#modules
      const leaderId = this.#leadership.leader(id, self)
      if (leaderId === self) return
      count('handovers')
      handOver(id, leaderId)
    })
  }
}
