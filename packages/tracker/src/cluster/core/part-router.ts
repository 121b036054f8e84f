import {
  parseStreamPartId,
  type NodeId,
  type Status,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { NodeToTracker } from '../../core/tracker-events.ts'
import type { ClusterLimits } from '../limits.ts'
import type { ClusterCounterName } from './cluster-counters.ts'
import { HeldPackets, type PartPacket } from './held-packets.ts'
import { isolated, type FaultModules } from './isolated.ts'
import { Leadership, type LeadershipModules } from './leadership.ts'

/** What the router needs from its owner. Once it is known which trackers a stream names, call `streamKnown`. */
export interface PartRouterModules extends LeadershipModules, FaultModules {
  /** Whether this tracker leads a stream part now. */
  leads(id: StreamPartId): boolean
  /** Those that it leads, and those that it would lead once a node that waits here is let in. */
  ledParts(): readonly StreamPartId[]
  /** A node reports a stream part that this tracker leads from now on: its replica should be used first. */
  prepare(status: Status): void
  /** Redirects a node to the leader. */
  redirect(nodeId: NodeId, streamPartId: StreamPartId, leaderId: NodeId): void
  /** Another tracker leads from now on; all nodes are redirected. */
  handOver(streamPartId: StreamPartId, leaderId: NodeId): void
  /** A held packet turns out to be for this tracker. */
  toCore(nodeId: NodeId, packet: NodeToTracker): void
  count(name: ClusterCounterName): void
}

/**
 * Decides which packets of nodes are for this tracker, and which nodes are redirected to an earlier tracker that can be reached
 * from here, so that a stream part has one overlay. Pure: events come in, and effects go out through `PartRouterModules`.
 */
export class PartRouter {
  readonly #modules: PartRouterModules
  readonly #leadership: Leadership
  readonly #held = new HeldPackets()

  constructor(limits: Pick<ClusterLimits, 'handOverAfterMs'>, modules: PartRouterModules) {
    this.#modules = modules
    this.#leadership = new Leadership(limits, modules)
  }

  /** When `tick` is due; Infinity when nothing is waited for. */
  get dueMs(): number {
    return this.#leadership.dueMs
  }

  /** The trackers responsible for a stream part, the preferred leader first. */
  order(id: StreamPartId): readonly NodeId[] {
    return this.#leadership.order(id)
  }

  /** Takes a packet of a connected node. True when it is handled: it is not for this tracker, or not yet. */
  takes(from: NodeId, packet: NodeToTracker): boolean {
    if (!('streamPartId' in packet)) return false
    const { streamPartId: id } = packet
    const { streamId } = parseStreamPartId(id)
    const { self, leads, ownTrackers } = this.#modules
    // Asked also for what it leads: the owner may name others meanwhile, which `streamKnown` then says.
    const own = ownTrackers(streamId)
    if (leads(id)) return false
    // The stream's own trackers would come first; where this tracker is the first either way, nothing has to wait for them.
    if (own === undefined && this.order(id)[0] !== self) {
      this.#held.add(streamId, from, packet)
      return true
    }
    const leaderId = this.#leadership.leader(id)
    if (leaderId !== self) this.#redirect(from, packet, leaderId)
    else if (packet.type === 'status') this.#modules.prepare(packet)
    return leaderId !== self
  }

  /** The node disconnected. */
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

  /** It is now known which trackers a stream names. */
  streamKnown(streamId: StreamId): void {
    for (const id of this.#modules.ledParts())
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

  /** A node that leaves, or withdraws its offer, has nothing new for the leader. */
  #redirect(from: NodeId, packet: PartPacket, leaderId: NodeId): void {
    if (packet.type !== 'status' && packet.type !== 'findStorage') return
    this.#modules.count('redirects')
    this.#modules.redirect(from, packet.streamPartId, leaderId)
  }

  #reviewAll(): void {
    for (const id of this.#modules.ledParts()) this.#review(id)
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
