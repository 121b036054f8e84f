import {
  decodePacket,
  encodePacket,
  parseStreamPartId,
  readPackets,
  type NodeId,
  type Packet,
  type Status,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { NodeToTracker, ReleasedNode } from '../../core/tracker-core.ts'
import { DelayQueue } from '../../core/timing/delay-queue.ts'
import type { ClusterLimits } from '../limits.ts'
import type { ClusterCounterName } from './cluster-counters.ts'
import { HeldPackets } from './held-packets.ts'
import type { RelayFrame } from './relay-frame.ts'
import { RelayedNode } from './relayed-node.ts'
import { leaderOf, trackerOrder } from './stream-order.ts'

export type RouterLimits = Pick<
  ClusterLimits,
  'handOverAfterMs' | 'leaveDelayMs' | 'relayRetryMs' | 'maxPeersPerNode'
> & { readonly maxStreamPartsPerNode: number }

/** What the router has others do, and asks of them. */
export interface RouterModules {
  readonly self: NodeId
  /** Registered trackers, this one among them when it is. */
  registered(): readonly NodeId[]
  /** The trackers a stream names; empty for the network's; undefined while that is being found out, which `streamKnown` ends. */
  ownTrackers(streamId: StreamId): readonly NodeId[] | undefined
  /** Gives another tracker a frame; false when it cannot take it. */
  relay(tracker: NodeId, frame: RelayFrame): boolean
  toNode(node: NodeId, packet: Uint8Array): void
  toCore(node: NodeId, packet: NodeToTracker): void
  disconnect(node: NodeId, code: string, text: string): void
  /** How a connected node is reached, as it said; and over how many trackers it came. */
  connected(node: NodeId): { readonly info: Packet | undefined; readonly hops: number } | undefined
  leads(id: StreamPartId): boolean
  ledParts(): Iterable<StreamPartId>
  release(id: StreamPartId): readonly ReleasedNode[]
  /** The stream part comes here: what was replicated of it should come first. */
  prepare(id: StreamPartId, status: Status | undefined): void
  maySignal(a: NodeId, b: NodeId): boolean
  /** A stream part with nodes has another leader from now on. */
  moved(id: StreamPartId, to: NodeId): void
  count(name: ClusterCounterName, by?: number): void
}

type PartPacket = Extract<NodeToTracker, { readonly streamPartId: StreamPartId }>
type Leaving = `${NodeId} ${StreamPartId}`

/** A stream part that another tracker leads, and who of it is connected here. */
interface Route {
  target: NodeId
  readonly nodes: Set<NodeId>
}

/** Errors after which a node is not disconnected but offered again, for it may be on its way home. */
const isPassing = (code: string) => code === 'RELAY_NOT_NEEDED' || code === 'TOO_MANY_RELAYED'

/**
 * Which packets of nodes are for this tracker, and which for an earlier one that can be reached from here: there is one
 * overlay of a stream part, wherever its nodes are connected. Pure: what happens comes in, what is to be done goes out
 * through `RouterModules`.
 */
export class RelayRouter {
  readonly #limits: RouterLimits
  readonly #modules: RouterModules
  /** Linked trackers. */
  readonly #linked = new Set<NodeId>()
  readonly #settling: DelayQueue<NodeId>
  readonly #routes = new Map<StreamPartId, Route>()
  readonly #nodes = new Map<NodeId, RelayedNode>()
  readonly #held: HeldPackets
  readonly #leaving: DelayQueue<Leaving>
  readonly #retries: DelayQueue<`${NodeId} ${NodeId}`>

  constructor(limits: RouterLimits, modules: RouterModules) {
    this.#limits = limits
    this.#modules = modules
    this.#settling = new DelayQueue(limits.handOverAfterMs)
    this.#leaving = new DelayQueue(limits.leaveDelayMs)
    this.#retries = new DelayQueue(limits.relayRetryMs)
    this.#held = new HeldPackets()
  }

  /** When `tick` has something to do; undefined when nothing is waited for. */
  get wakeAt(): number | undefined {
    const times = [this.#settling.nextAt, this.#leaving.nextAt, this.#retries.nextAt]
    const known = times.filter((at) => at !== undefined)
    return known.length === 0 ? undefined : Math.min(...known)
  }

  /** Nodes that are relayed, and stream parts that are. */
  get load(): { readonly nodes: number; readonly streamParts: number } {
    return { nodes: this.#nodes.size, streamParts: this.#routes.size }
  }

  /** Who leads a stream part as seen from here; undefined when nobody is known to have nodes in it. */
  leaderOf(id: StreamPartId): NodeId | undefined {
    return this.#routes.get(id)?.target ?? (this.#modules.leads(id) ? this.#modules.self : undefined)
  }

  /** A packet of a connected node. True when it is taken care of: it is not for this tracker, or not yet. */
  takes(from: NodeId, packet: NodeToTracker, now: number): boolean {
    if (packet.type === 'nodeInfo') {
      for (const tracker of this.#nodes.get(from)?.open ?? []) this.#up(from, tracker, packet)
      return false
    }
    if (packet.type === 'signal') return this.#signal(from, packet)
    return this.#partPacket(from, packet, now)
  }

  /** The node is not connected any more. */
  gone(nodeId: NodeId): void {
    this.#held.forget(nodeId)
    const node = this.#nodes.get(nodeId)
    if (node === undefined) return
    for (const id of node.parts.keys()) {
      this.#leaving.delete(`${nodeId} ${id}`)
      this.#unroute(nodeId, id)
    }
    for (const tracker of node.open) this.#modules.relay(tracker, { type: 'gone', nodeId })
    this.#nodes.delete(nodeId)
  }

  /** A frame about a node that is relayed to the tracker it comes from. */
  receive(tracker: NodeId, frame: Extract<RelayFrame, { type: 'down' | 'closed' }>, now: number): void {
    const node = this.#nodes.get(frame.nodeId)
    if (node === undefined || !node.open.has(tracker)) return
    if (frame.type === 'down') return this.#down(node, tracker, frame.packet)
    node.open.delete(tracker)
    if (isPassing(frame.code)) this.#retries.add(`${frame.nodeId} ${tracker}`, now)
    else if (frame.code === 'REPLACED') this.#forgetAt(node, tracker)
    else this.#modules.disconnect(frame.nodeId, frame.code, frame.text)
  }

  linked(tracker: NodeId, now: number): void {
    this.#linked.add(tracker)
    this.#settling.add(tracker, now)
  }

  unlinked(tracker: NodeId, now: number): void {
    this.#linked.delete(tracker)
    this.#settling.delete(tracker)
    for (const node of this.#nodes.values()) node.open.delete(tracker)
    for (const [id, route] of this.#routes) if (route.target === tracker) this.#review(id, now)
  }

  /** The registry changed. */
  registryChanged(now: number): void {
    this.#reviewAll(now)
  }

  /** It is known which trackers a stream names. */
  streamKnown(streamId: StreamId, now: number): void {
    for (const id of [...this.#routes.keys(), ...this.#modules.ledParts()])
      if (parseStreamPartId(id).streamId === streamId) this.#review(id, now)
    for (const { from, packet } of this.#held.take(streamId))
      if (!this.#partPacket(from, packet, now)) this.#modules.toCore(from, packet)
  }

  tick(now: number): void {
    let settled = false
    for (let id = this.#settling.takeDue(now); id !== undefined; id = this.#settling.takeDue(now))
      settled = true
    if (settled) this.#reviewAll(now)
    for (let key = this.#leaving.takeDue(now); key !== undefined; key = this.#leaving.takeDue(now))
      this.#leave(key)
    for (let key = this.#retries.takeDue(now); key !== undefined; key = this.#retries.takeDue(now)) {
      const [nodeId, tracker] = key.split(' ') as [NodeId, NodeId]
      this.#offer(nodeId, tracker)
    }
  }

  #partPacket(from: NodeId, packet: PartPacket, now: number): boolean {
    const { streamPartId: id } = packet
    const isLed = this.#modules.leads(id)
    if (isLed && packet.type === 'status') {
      this.#leaving.delete(`${from} ${id}`)
      return false
    }
    const order = this.#order(id)
    const { streamId } = parseStreamPartId(id)
    const isUndecided = !isLed && !this.#routes.has(id)
    // The streams' own trackers would go before; where this tracker is the first either way, nothing has to wait for them.
    if (this.#modules.ownTrackers(streamId) === undefined && isUndecided && order[0] !== this.#modules.self) {
      this.#held.add(streamId, from, packet)
      return true
    }
    const target = this.#routes.get(id)?.target ?? (isLed ? this.#modules.self : this.#leader(id))
    if (target === this.#modules.self) return this.#local(from, packet, order, now)
    this.#relay(from, packet, target, now)
    return true
  }

  /** A node that leaves a tracker that is not the first may only be going home: it is waited for news of that. */
  #local(from: NodeId, packet: PartPacket, order: readonly NodeId[], now: number): boolean {
    const key: Leaving = `${from} ${packet.streamPartId}`
    if (packet.type === 'status') this.#leaving.delete(key)
    if (packet.type === 'leave' && order[0] !== this.#modules.self) {
      this.#leaving.add(key, now)
      return true
    }
    this.#prepare(packet)
    return false
  }

  #prepare(packet: PartPacket): void {
    const { streamPartId: id } = packet
    if (packet.type === 'status' && !this.#modules.leads(id)) this.#modules.prepare(id, packet)
  }

  #relay(from: NodeId, packet: PartPacket, target: NodeId, now: number): void {
    const { streamPartId: id } = packet
    const key: Leaving = `${from} ${id}`
    const node = this.#nodes.get(from) ?? new RelayedNode(from)
    if (packet.type === 'leave') {
      if (node.parts.has(id)) this.#leaving.add(key, now)
      return
    }
    if (packet.type === 'status') this.#leaving.delete(key)
    if (!node.parts.has(id) && node.parts.size >= this.#limits.maxStreamPartsPerNode) {
      this.#modules.count('relaysRefused')
      return this.#modules.disconnect(from, 'TOO_MANY_STREAM_PARTS', id)
    }
    this.#nodes.set(from, node)
    node.remember(packet)
    this.#route(from, id, target)
    if (node.open.has(target)) this.#up(from, target, packet)
    else if (!this.#retries.has(`${from} ${target}`)) {
      this.#offer(from, target)
      if (packet.type === 'findStorage') this.#up(from, target, packet)
    }
  }

  #route(nodeId: NodeId, id: StreamPartId, target: NodeId): void {
    const route = this.#routes.get(id) ?? { target, nodes: new Set<NodeId>() }
    route.nodes.add(nodeId)
    this.#routes.set(id, route)
  }

  #unroute(nodeId: NodeId, id: StreamPartId): void {
    const route = this.#routes.get(id)
    route?.nodes.delete(nodeId)
    if (route?.nodes.size === 0) this.#routes.delete(id)
  }

  /** Introduces a node to the tracker that leads, with all it has to know of it. */
  #offer(nodeId: NodeId, tracker: NodeId): void {
    const node = this.#nodes.get(nodeId)
    const connected = this.#modules.connected(nodeId)
    if (node === undefined || connected === undefined || !this.#linked.has(tracker)) return
    const parts = [...node.parts].filter(([id]) => this.#routes.get(id)?.target === tracker)
    if (parts.length === 0 || node.open.has(tracker)) return
    node.open.add(tracker)
    this.#modules.count('nodesRelayed')
    this.#send(node, tracker, { type: 'open', nodeId, hops: connected.hops + 1 })
    if (connected.info !== undefined) this.#up(nodeId, tracker, connected.info)
    for (const [id, { status, storing }] of parts) {
      if (status !== undefined) this.#up(nodeId, tracker, status)
      if (storing) this.#up(nodeId, tracker, { type: 'storing', streamPartId: id, storing })
    }
  }

  #up(nodeId: NodeId, tracker: NodeId, packet: Packet): void {
    const node = this.#nodes.get(nodeId)
    if (node !== undefined) this.#send(node, tracker, { type: 'up', nodeId, packet: encodePacket(packet) })
  }

  /** A node of which something is lost has to begin anew. */
  #send(node: RelayedNode, tracker: NodeId, frame: RelayFrame): void {
    if (!node.open.has(tracker) || this.#modules.relay(tracker, frame)) return
    node.open.delete(tracker)
    this.#modules.count('relayFramesDropped')
    this.#modules.disconnect(node.nodeId, 'SLOW_NODE', `relayed to ${tracker}`)
  }

  #down(node: RelayedNode, tracker: NodeId, bytes: Uint8Array): void {
    for (const { type, body } of readPackets(bytes)) {
      const packet = decodePacket(type, body)
      if (packet.type === 'instruction' || packet.type === 'storageNodes') {
        if (this.#routes.get(packet.streamPartId)?.target !== tracker) return
        const peers = packet.type === 'instruction' ? packet.neighbours : packet.nodes
        for (const { nodeId } of peers) node.heardOf(nodeId, tracker, this.#limits.maxPeersPerNode)
      } else if (packet.type === 'signal') {
        node.heardOf(packet.peerId, tracker, this.#limits.maxPeersPerNode)
      } else if (packet.type !== 'trackerError') {
        return
      }
    }
    this.#modules.toNode(node.nodeId, bytes)
  }

  #signal(from: NodeId, packet: Extract<NodeToTracker, { type: 'signal' }>): boolean {
    const node = this.#nodes.get(from)
    if (node === undefined || this.#modules.maySignal(from, packet.peerId)) return false
    const tracker = node.whoToldOf(packet.peerId)
    if (tracker === undefined) return false
    this.#up(from, tracker, packet)
    return true
  }

  /** The tracker has the node by another way: nothing of it goes there from here until it reports again. */
  #forgetAt(node: RelayedNode, tracker: NodeId): void {
    for (const id of [...node.parts.keys()]) {
      if (this.#routes.get(id)?.target !== tracker) continue
      node.parts.delete(id)
      this.#leaving.delete(`${node.nodeId} ${id}`)
      this.#unroute(node.nodeId, id)
    }
    if (node.parts.size === 0) this.#nodes.delete(node.nodeId)
  }

  #leave(key: Leaving): void {
    const [nodeId, id] = key.split(' ') as [NodeId, StreamPartId]
    const leave = { type: 'leave', streamPartId: id } as const
    const node = this.#nodes.get(nodeId)
    if (node === undefined || !node.parts.has(id)) return this.#modules.toCore(nodeId, leave)
    const target = this.#routes.get(id)?.target
    if (target !== undefined) this.#up(nodeId, target, leave)
    this.#dropPart(node, id)
  }

  #dropPart(node: RelayedNode, id: StreamPartId): void {
    node.parts.delete(id)
    this.#unroute(node.nodeId, id)
    for (const tracker of [...node.open]) this.#closeIdle(node, tracker)
    if (node.parts.size === 0) this.#nodes.delete(node.nodeId)
  }

  #closeIdle(node: RelayedNode, tracker: NodeId): void {
    for (const id of node.parts.keys()) if (this.#routes.get(id)?.target === tracker) return
    if (node.open.delete(tracker)) this.#modules.relay(tracker, { type: 'gone', nodeId: node.nodeId })
  }

  #reviewAll(now: number): void {
    for (const id of [...this.#modules.ledParts()]) this.#review(id, now)
    for (const id of [...this.#routes.keys()]) this.#review(id, now)
  }

  /** Whether a stream part is where it should be. */
  #review(id: StreamPartId, now: number): void {
    const route = this.#routes.get(id)
    const { self } = this.#modules
    const current = route?.target ?? self
    const target = this.#leader(id, current)
    if (target === current) return
    this.#modules.moved(id, target)
    if (route === undefined) this.#handOver(id, target, now)
    else if (target === self) this.#takeOver(id, route)
    else this.#redirect(id, route, target)
  }

  #handOver(id: StreamPartId, target: NodeId, now: number): void {
    const released = this.#modules.release(id)
    if (released.length === 0) return
    this.#modules.count('handovers')
    for (const { nodeId, status, storing } of released) {
      // Who is leaving has gone there by itself, or does not want to be there.
      if (this.#leaving.delete(`${nodeId} ${id}`) || this.#modules.connected(nodeId) === undefined) continue
      this.#relay(nodeId, status, target, now)
      if (storing) this.#relay(nodeId, { type: 'storing', streamPartId: id, storing }, target, now)
    }
  }

  #takeOver(id: StreamPartId, route: Route): void {
    this.#routes.delete(id)
    this.#modules.count('takeovers')
    for (const nodeId of route.nodes) {
      const node = this.#nodes.get(nodeId)
      const part = node?.parts.get(id)
      if (node === undefined || part === undefined) continue
      this.#dropPart(node, id)
      if (part.status === undefined) continue
      this.#prepare(part.status)
      this.#modules.toCore(nodeId, part.status)
      if (part.storing) this.#modules.toCore(nodeId, { type: 'storing', streamPartId: id, storing: true })
    }
  }

  #redirect(id: StreamPartId, route: Route, target: NodeId): void {
    const before = route.target
    route.target = target
    for (const nodeId of route.nodes) {
      const node = this.#nodes.get(nodeId)
      if (node === undefined) continue
      this.#up(nodeId, before, { type: 'leave', streamPartId: id })
      this.#closeIdle(node, before)
      const part = node.parts.get(id)
      if (!node.open.has(target)) this.#offer(nodeId, target)
      else if (part?.status !== undefined) this.#up(nodeId, target, part.status)
    }
  }

  #order(id: StreamPartId): readonly NodeId[] {
    const own = this.#modules.ownTrackers(parseStreamPartId(id).streamId)
    return trackerOrder(id, this.#modules.registered(), own)
  }

  #leader(id: StreamPartId, current?: NodeId): NodeId {
    const order = this.#order(id)
    const { self } = this.#modules
    // A tracker that is not registered has nobody to turn to.
    if (!this.#modules.registered().includes(self)) return self
    return leaderOf(order, {
      ...{ self, current },
      isLinked: (tracker) => this.#linked.has(tracker),
      isSettled: (tracker) => this.#linked.has(tracker) && !this.#settling.has(tracker),
    })
  }
}
