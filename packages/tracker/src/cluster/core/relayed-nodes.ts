import { encodePacket, type NodeId, type Packet, type StreamPartId } from '@runnel/protocol'
import type { NodeToTracker } from '../../core/tracker-core.ts'
import { DelayQueue } from '../../core/timing/delay-queue.ts'
import type { ClusterLimits } from '../limits.ts'
import type { ClusterCounterName } from './cluster-counters.ts'
import type { RelayFrame } from './relay-frame.ts'
import { isolated, type FaultModules } from './isolated.ts'
import { RelayedNode, type RelayedPart } from './relayed-node.ts'

/** What is asked of the tracker around the relayed nodes. */
export interface RelayModules extends FaultModules {
  /** Gives another tracker a frame; false when it cannot take it. */
  relay(tracker: NodeId, frame: RelayFrame): boolean
  disconnect(node: NodeId, code: string, text: string): void
  /** How a connected node is reached, as it said; and over how many trackers it came. */
  connected(node: NodeId): { readonly info: Packet | undefined; readonly hops: number } | undefined
  isLinked(tracker: NodeId): boolean
  count(name: ClusterCounterName): void
}

type PartPacket = Extract<NodeToTracker, { readonly streamPartId: StreamPartId }>

/** A stream part that another tracker leads, and who of it is connected here. */
interface Route {
  target: NodeId
  readonly nodes: Set<NodeId>
}

/** The nodes that are connected here and belong elsewhere: what they last said, who leads it, and which trackers know of them. */
export class RelayedNodes {
  readonly #modules: RelayModules
  readonly #routes = new Map<StreamPartId, Route>()
  readonly #nodes = new Map<NodeId, RelayedNode>()
  readonly #retries: DelayQueue<`${NodeId} ${NodeId}`>

  constructor(limits: Pick<ClusterLimits, 'relayRetryMs'>, modules: RelayModules) {
    this.#modules = modules
    this.#retries = new DelayQueue(limits.relayRetryMs)
  }

  /** When `tick` has something to do; undefined when nothing is waited for. */
  get wakeAt(): number | undefined {
    return this.#retries.nextAt
  }

  /** How many there are, and of how many stream parts. */
  get load(): { readonly nodes: number; readonly streamParts: number } {
    return { nodes: this.#nodes.size, streamParts: this.#routes.size }
  }

  get(nodeId: NodeId): RelayedNode | undefined {
    return this.#nodes.get(nodeId)
  }

  /** The stream parts that other trackers lead, with nodes that are connected here. */
  get parts(): StreamPartId[] {
    return [...this.#routes.keys()]
  }

  /** Who leads such a stream part. */
  targetOf(id: StreamPartId): NodeId | undefined {
    return this.#routes.get(id)?.target
  }

  /** A packet of a node for the tracker that leads. */
  add(from: NodeId, packet: PartPacket, target: NodeId): void {
    const { streamPartId: id } = packet
    const node = this.#nodes.get(from) ?? new RelayedNode(from)
    this.#nodes.set(from, node)
    node.remember(packet)
    const route = this.#routes.get(id) ?? { target, nodes: new Set<NodeId>() }
    route.nodes.add(from)
    this.#routes.set(id, route)
    if (node.open.has(target)) this.up(from, target, packet)
    else if (!this.#retries.has(`${from} ${target}`)) {
      this.#offer(from, target)
      if (packet.type === 'findStorage') this.up(from, target, packet)
    }
  }

  up(nodeId: NodeId, tracker: NodeId, packet: Packet): void {
    const node = this.#nodes.get(nodeId)
    if (node !== undefined) this.#send(node, tracker, { type: 'up', nodeId, packet: encodePacket(packet) })
  }

  /** Offers a node again that a tracker would not have, after a while. */
  retry(nodeId: NodeId, tracker: NodeId, now: number): void {
    this.#retries.add(`${nodeId} ${tracker}`, now)
  }

  tick(now: number): void {
    for (let key = this.#retries.takeDue(now); key !== undefined; key = this.#retries.takeDue(now)) {
      const [nodeId, tracker] = key.split(' ') as [NodeId, NodeId]
      isolated({ nodeId }, this.#modules, () => this.#offer(nodeId, tracker))
    }
  }

  /** The tracker knows of no node any more. */
  unlinked(tracker: NodeId): void {
    for (const node of this.#nodes.values()) node.open.delete(tracker)
  }

  /** The node is not connected any more. */
  gone(nodeId: NodeId): void {
    const node = this.#nodes.get(nodeId)
    if (node === undefined) return
    for (const id of node.parts.keys()) this.#unroute(nodeId, id)
    for (const tracker of node.open) this.#modules.relay(tracker, { type: 'gone', nodeId })
    this.#nodes.delete(nodeId)
  }

  /** The tracker has the node by another way: nothing of it goes there from here until it reports again. The stream parts. */
  forgetAt(node: RelayedNode, tracker: NodeId): StreamPartId[] {
    const forgotten = [...node.parts.keys()].filter((id) => this.targetOf(id) === tracker)
    for (const id of forgotten) this.#forgetPart(node, id)
    return forgotten
  }

  /** The node has nothing to do with the stream part any more. */
  dropPart(node: RelayedNode, id: StreamPartId): void {
    this.#forgetPart(node, id)
    for (const tracker of [...node.open]) this.#closeIdle(node, tracker)
  }

  /** A stream part that is to be led here: its nodes with what they last said of it. They are not relayed any more. */
  takeBack(id: StreamPartId): { readonly nodeId: NodeId; readonly part: RelayedPart }[] {
    const taken: { readonly nodeId: NodeId; readonly part: RelayedPart }[] = []
    for (const nodeId of this.#routes.get(id)?.nodes ?? []) {
      const node = this.#nodes.get(nodeId)
      const part = node?.parts.get(id)
      if (node === undefined || part === undefined) continue
      this.dropPart(node, id)
      taken.push({ nodeId, part })
    }
    this.#routes.delete(id)
    return taken
  }

  /** Another tracker leads the stream part from now on. */
  redirect(id: StreamPartId, target: NodeId): void {
    const route = this.#routes.get(id)
    if (route === undefined) return
    const before = route.target
    route.target = target
    for (const nodeId of [...route.nodes])
      isolated({ nodeId, streamPartId: id }, this.#modules, () => this.#redirect(nodeId, id, before, target))
  }

  #redirect(nodeId: NodeId, id: StreamPartId, before: NodeId, target: NodeId): void {
    const node = this.#nodes.get(nodeId)
    if (node === undefined) return
    this.up(nodeId, before, { type: 'leave', streamPartId: id })
    this.#closeIdle(node, before)
    const part = node.parts.get(id)
    if (!node.open.has(target)) this.#offer(nodeId, target)
    else if (part?.status !== undefined) this.up(nodeId, target, part.status)
  }

  /** Introduces a node to the tracker that leads, with all it has to know of it. */
  #offer(nodeId: NodeId, tracker: NodeId): void {
    const node = this.#nodes.get(nodeId)
    const connected = this.#modules.connected(nodeId)
    if (node === undefined || connected === undefined || !this.#modules.isLinked(tracker)) return
    const parts = [...node.parts].filter(([id]) => this.targetOf(id) === tracker)
    if (parts.length === 0 || node.open.has(tracker)) return
    node.open.add(tracker)
    this.#modules.count('nodesRelayed')
    this.#send(node, tracker, { type: 'open', nodeId, hops: connected.hops + 1 })
    if (connected.info !== undefined) this.up(nodeId, tracker, connected.info)
    for (const [id, { status, storing }] of parts) {
      if (status !== undefined) this.up(nodeId, tracker, status)
      if (storing) this.up(nodeId, tracker, { type: 'storing', streamPartId: id, storing })
    }
  }

  /** A node of which something is lost has to begin anew. */
  #send(node: RelayedNode, tracker: NodeId, frame: RelayFrame): void {
    if (!node.open.has(tracker) || this.#modules.relay(tracker, frame)) return
    node.open.delete(tracker)
    this.#modules.count('relayFramesDropped')
    this.#modules.disconnect(node.nodeId, 'SLOW_NODE', `relayed to ${tracker}`)
  }

  #forgetPart(node: RelayedNode, id: StreamPartId): void {
    node.parts.delete(id)
    this.#unroute(node.nodeId, id)
    if (node.parts.size === 0) this.#nodes.delete(node.nodeId)
  }

  #unroute(nodeId: NodeId, id: StreamPartId): void {
    const route = this.#routes.get(id)
    route?.nodes.delete(nodeId)
    if (route?.nodes.size === 0) this.#routes.delete(id)
  }

  #closeIdle(node: RelayedNode, tracker: NodeId): void {
    for (const id of node.parts.keys()) if (this.targetOf(id) === tracker) return
    if (node.open.delete(tracker)) this.#modules.relay(tracker, { type: 'gone', nodeId: node.nodeId })
  }
}
