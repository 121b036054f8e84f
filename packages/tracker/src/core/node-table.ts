import type { ActingFor, Contact, NodeId } from '@runnel/protocol'
import { unknownNetwork, type CoreState } from './core-state.ts'
import { NodeRecord } from './node-record.ts'
import type { PartFaults } from './part-faults.ts'
import type { StreamPart } from './stream-part.ts'

/** The nodes that are connected, or were until a moment ago: which have a place, and which are disconnected. */
export class NodeTable {
  readonly #state: CoreState
  readonly #faults: PartFaults

  constructor(state: CoreState, faults: PartFaults) {
    this.#state = state
    this.#faults = faults
  }

  connected(nodeId: NodeId, network: string | undefined, actingFor?: ActingFor): void {
    const node = this.#state.nodes.get(nodeId)
    if (node === undefined) return this.#newNode(nodeId, network, actingFor)
    node.actingFor = actingFor
    node.hasConnected = true
    node.reconnects++
    node.about = undefined
    this.#state.storage.forget(nodeId)
    this.#state.openOffers.drop(node)
    node.connected = true
    node.refused = false
    this.#state.schedule.disconnected.delete(node)
    this.#state.schedule.confirm.add(node, this.#state.nowMs)
    this.#watch(node)
    for (const part of node.parts) {
      node.unconfirmed.add(part)
      this.#faults.within(part, () => part.reconnected(nodeId))
    }
    this.#moved(nodeId, network)
  }

  /** A node acts for its user until later than before. */
  credentialRenewed(nodeId: NodeId, actingFor: ActingFor | undefined): void {
    const node = this.#state.nodes.get(nodeId)
    if (node !== undefined) node.actingFor = actingFor
  }

  #newNode(nodeId: NodeId, network: string | undefined, actingFor?: ActingFor): void {
    const node = new NodeRecord(nodeId, this.#state.limits, this.#state.nowMs)
    node.network = network
    node.actingFor = actingFor
    this.#state.nodes.set(nodeId, node)
    this.#watch(node)
    this.#place(node)
  }

  /** Disconnects nodes that send no node info, or are in no stream part for long. */
  #watch(node: NodeRecord): void {
    if (node.contact === undefined) this.#state.schedule.silent.add(node, this.#state.nowMs)
    if (node.parts.size === 0) this.#state.schedule.idle.add(node, this.#state.nowMs)
  }

  /** A known node comes from another network than before. */
  #moved(nodeId: NodeId, network: string | undefined): void {
    const node = this.#state.nodes.get(nodeId)
    if (node === undefined || node.network === network) return
    node.network = network
    this.#state.places.delete(node)
    this.#place(node)
  }

  /** When the table is full, the last node of the network with the most is disconnected. */
  #place(newcomer: NodeRecord): void {
    for (const node of this.#state.places.add(newcomer, newcomer.network ?? unknownNetwork)) {
      this.#state.counters.count(node === newcomer ? 'nodesRefused' : 'nodesEvicted')
      this.#state.outbox.refuse(node, 'TOO_MANY_NODES')
      this.takeOut(node)
    }
  }

  /** Counts as a node that was connected once, and has a while to report the stream part. */
  expectNode(part: StreamPart, nodeId: NodeId, contact: Contact): boolean {
    let node = this.#state.nodes.get(nodeId)
    if (node === undefined) {
      if (this.#state.nodes.size >= this.#state.limits.maxNodes) return false
      node = new NodeRecord(nodeId, this.#state.limits, this.#state.nowMs)
      node.connected = false
      node.hasConnected = false
      this.#state.nodes.set(nodeId, node)
      this.#state.places.add(node, unknownNetwork)
    }
    node.contact ??= contact
    node.parts.add(part)
    node.unconfirmed.add(part)
    this.#state.schedule.confirm.add(node, this.#state.nowMs)
    return true
  }

  disconnect(nodeId: NodeId): void {
    const node = this.#state.nodes.get(nodeId)
    if (node === undefined) return
    this.#state.storage.forget(nodeId)
    this.#state.openOffers.drop(node)
    node.connected = false
    this.#state.schedule.silent.delete(node)
    this.#state.schedule.idle.delete(node)
    this.#state.schedule.confirm.delete(node)
    this.#state.schedule.disconnected.add(node, this.#state.nowMs)
  }

  expel(nodeId: NodeId): void {
    const node = this.#state.nodes.get(nodeId)
    if (node === undefined) return
    this.#state.counters.count('nodesExpelled')
    this.takeOut(node)
  }

  takeOut(node: NodeRecord): void {
    for (const part of node.parts) this.#faults.within(part, () => part.remove(node.nodeId))
    this.forget(node)
  }

  /** Handles a node that is in no stream part any more. */
  forget(node: NodeRecord): void {
    this.#state.storage.forget(node.nodeId)
    this.#state.openOffers.drop(node)
    this.#state.resting.forget(node.nodeId)
    this.#state.nodes.delete(node.nodeId)
    this.#state.places.delete(node)
    this.#state.schedule.forgetNode(node)
  }

  forgetAll(): void {
    this.#state.counters.count('stalls')
    for (const part of [...this.#state.parts.values()]) this.#faults.within(part, () => part.dissolve())
    this.#state.resting.clear()
    for (const node of [...this.#state.nodes.values()]) this.forget(node)
  }

  letGoIdle(node: NodeRecord): void {
    if (node.parts.size + node.resting.size > 0) return
    this.#state.counters.count('nodesIdle')
    this.#state.outbox.refuse(node, 'NODE_IDLE')
  }
}
