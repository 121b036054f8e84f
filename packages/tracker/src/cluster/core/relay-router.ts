import {
  parseStreamPartId,
  type NodeId,
  type Status,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { NodeToTracker } from '../../core/tracker-core.ts'
import { Departures } from './departures.ts'
import { Handovers } from './handovers.ts'
import { HeldPackets } from './held-packets.ts'
import { Leadership } from './leadership.ts'
import type { RelayFrame } from './relay-frame.ts'
import { RelayTraffic } from './relay-traffic.ts'
import { RelayedNodes } from './relayed-nodes.ts'
import type { PartPacket, RouterLimits, RouterModules } from './router-modules.ts'

/**
 * Which packets of nodes are for this tracker, and which for an earlier one that can be reached from here: there is one
 * overlay of a stream part, wherever its nodes are connected. Pure: what happens comes in, what is to be done goes out
 * through `RouterModules`.
 */
export class RelayRouter {
  readonly #limits: RouterLimits
  readonly #modules: RouterModules
  readonly #leadership: Leadership
  readonly #nodes: RelayedNodes
  readonly #held = new HeldPackets()
  readonly #departures: Departures
  readonly #handovers: Handovers
  readonly #traffic: RelayTraffic

  constructor(limits: RouterLimits, modules: RouterModules) {
    this.#limits = limits
    this.#modules = modules
    this.#leadership = new Leadership(limits, modules)
    this.#departures = new Departures(limits.leaveDelayMs)
    this.#nodes = new RelayedNodes(limits, {
      relay: (tracker, frame) => modules.relay(tracker, frame),
      disconnect: (node, code, text) => modules.disconnect(node, code, text),
      connected: (node) => modules.connected(node),
      isLinked: (tracker) => this.#leadership.isLinked(tracker),
      count: (name) => modules.count(name),
    })
    this.#traffic = new RelayTraffic(limits, modules, this.#nodes)
    this.#handovers = new Handovers(modules, {
      ...{ leadership: this.#leadership, nodes: this.#nodes, departures: this.#departures },
      relay: (from, packet, target, now) => this.#relay(from, packet, target, now),
      prepare: (status) => this.#prepare(status),
    })
  }

  /** When `tick` has something to do; undefined when nothing is waited for. */
  get wakeAt(): number | undefined {
    const times = [this.#leadership.wakeAt, this.#departures.nextAt, this.#nodes.wakeAt]
    const known = times.filter((at) => at !== undefined)
    return known.length === 0 ? undefined : Math.min(...known)
  }

  /** Nodes that are relayed, and stream parts that are. */
  get load(): RelayedNodes['load'] {
    return this.#nodes.load
  }

  /** Who is responsible for a stream part, the one that should lead first. */
  order(id: StreamPartId): readonly NodeId[] {
    return this.#leadership.order(id)
  }

  /** A packet of a connected node. True when it is taken care of: it is not for this tracker, or not yet. */
  takes(from: NodeId, packet: NodeToTracker, now: number): boolean {
    if (packet.type === 'nodeInfo') {
      for (const tracker of this.#nodes.get(from)?.open ?? []) this.#nodes.up(from, tracker, packet)
      return false
    }
    if (packet.type === 'signal') return this.#traffic.signal(from, packet)
    return this.#partPacket(from, packet, now)
  }

  /** Whether a node that is relayed to an earlier tracker has reported in a later session. */
  isOutdated(from: NodeId, status: Status): boolean {
    return this.#nodes.get(from)?.hasReportedSince(status) ?? false
  }

  /** Whether a node is relayed, or may be as soon as it is known who leads. */
  serves(nodeId: NodeId): boolean {
    return this.#nodes.get(nodeId) !== undefined || this.#held.has(nodeId)
  }

  /** The node is not connected any more. */
  gone(nodeId: NodeId): void {
    this.#held.forget(nodeId)
    for (const id of this.#nodes.get(nodeId)?.parts.keys() ?? []) this.#departures.delete(nodeId, id)
    this.#nodes.gone(nodeId)
  }

  /** A frame about a node that is relayed to the tracker it comes from. */
  receive(tracker: NodeId, frame: Extract<RelayFrame, { type: 'down' | 'closed' }>, now: number): void {
    const node = this.#nodes.get(frame.nodeId)
    if (node === undefined || !node.open.has(tracker)) return
    if (frame.type === 'down') return this.#traffic.down(node, tracker, frame.packet)
    node.open.delete(tracker)
    if (frame.code === 'TOO_MANY_RELAYED') return this.#nodes.retry(frame.nodeId, tracker, now)
    if (frame.code !== 'REPLACED') return this.#modules.disconnect(frame.nodeId, frame.code, frame.text)
    for (const id of this.#nodes.forgetAt(node, tracker)) this.#departures.delete(frame.nodeId, id)
  }

  linked(tracker: NodeId, now: number): void {
    this.#leadership.linked(tracker, now)
  }

  unlinked(tracker: NodeId, now: number): void {
    this.#leadership.unlinked(tracker)
    this.#nodes.unlinked(tracker)
    for (const id of this.#nodes.parts)
      if (this.#nodes.targetOf(id) === tracker) this.#handovers.review(id, now)
  }

  /** The registry changed. */
  registryChanged(now: number): void {
    this.#handovers.reviewAll(now)
  }

  /** It is known which trackers a stream names. */
  streamKnown(streamId: StreamId, now: number): void {
    for (const id of [...this.#nodes.parts, ...this.#modules.ledParts()])
      if (parseStreamPartId(id).streamId === streamId) this.#handovers.review(id, now)
    for (const { from, packet } of this.#held.take(streamId))
      if (!this.#partPacket(from, packet, now)) this.#modules.toCore(from, packet)
  }

  tick(now: number): void {
    if (this.#leadership.settle(now)) this.#handovers.reviewAll(now)
    for (let left = this.#departures.takeDue(now); left !== undefined; left = this.#departures.takeDue(now))
      this.#leave(left.nodeId, left.id)
    this.#nodes.tick(now)
  }

  #partPacket(from: NodeId, packet: PartPacket, now: number): boolean {
    const { streamPartId: id } = packet
    const { self } = this.#modules
    const isLed = this.#modules.leads(id)
    if (isLed && packet.type === 'status') {
      this.#departures.delete(from, id)
      return false
    }
    const { streamId } = parseStreamPartId(id)
    const routedTo = this.#nodes.targetOf(id)
    const isFirst = this.order(id)[0] === self
    const isUndecided = !isLed && routedTo === undefined
    // The streams' own trackers would go before; where this tracker is the first either way, nothing has to wait for them.
    if (this.#modules.ownTrackers(streamId) === undefined && isUndecided && !isFirst) {
      this.#held.add(streamId, from, packet)
      return true
    }
    const target = routedTo ?? (isLed ? self : this.#leadership.leader(id))
    if (target === self) return this.#local(from, packet, isFirst, now)
    this.#relay(from, packet, target, now)
    return true
  }

  /** A node that leaves a tracker that is not the first may only be going home: it is waited for news of that. */
  #local(from: NodeId, packet: PartPacket, isFirst: boolean, now: number): boolean {
    const { streamPartId: id } = packet
    if (packet.type === 'leave' && !isFirst) {
      this.#departures.add(from, id, now)
      return true
    }
    if (packet.type === 'status') {
      this.#departures.delete(from, id)
      this.#prepare(packet)
    }
    return false
  }

  #prepare(status: Status): void {
    if (!this.#modules.leads(status.streamPartId)) this.#modules.prepare(status.streamPartId, status)
  }

  #relay(from: NodeId, packet: PartPacket, target: NodeId, now: number): void {
    const { streamPartId: id } = packet
    const parts = this.#nodes.get(from)?.parts
    if (packet.type === 'leave') {
      if (parts?.has(id)) this.#departures.add(from, id, now)
      return
    }
    if (packet.type === 'status') this.#departures.delete(from, id)
    if (parts !== undefined && !parts.has(id) && parts.size >= this.#limits.maxStreamPartsPerNode) {
      this.#modules.count('relaysRefused')
      return this.#modules.disconnect(from, 'TOO_MANY_STREAM_PARTS', id)
    }
    this.#nodes.add(from, packet, target)
  }

  #leave(nodeId: NodeId, id: StreamPartId): void {
    const leave = { type: 'leave', streamPartId: id } as const
    const node = this.#nodes.get(nodeId)
    if (node === undefined || !node.parts.has(id)) return this.#modules.toCore(nodeId, leave)
    const target = this.#nodes.targetOf(id)
    if (target !== undefined) this.#nodes.up(nodeId, target, leave)
    this.#nodes.dropPart(node, id)
  }
}
