import { decodePacket, readPackets, type NodeId, type Signal } from '@runnel/protocol'
import type { RelayedNode } from './relayed-node.ts'
import type { RelayedNodes } from './relayed-nodes.ts'
import type { RouterLimits, RouterModules } from './router-modules.ts'

/** What passes between relayed nodes and the trackers that lead, besides reports. */
export class RelayTraffic {
  readonly #limits: Pick<RouterLimits, 'maxPeersPerNode'>
  readonly #modules: Pick<RouterModules, 'toNode' | 'maySignal'>
  readonly #nodes: RelayedNodes

  constructor(
    limits: Pick<RouterLimits, 'maxPeersPerNode'>,
    modules: Pick<RouterModules, 'toNode' | 'maySignal'>,
    nodes: RelayedNodes,
  ) {
    this.#limits = limits
    this.#modules = modules
    this.#nodes = nodes
  }

  /** Passes on what a tracker says to a node, when it is what a leader may say. */
  down(node: RelayedNode, tracker: NodeId, bytes: Uint8Array): void {
    const { maxPeersPerNode } = this.#limits
    for (const { type, body } of readPackets(bytes)) {
      const packet = decodePacket(type, body)
      if (packet.type === 'instruction' || packet.type === 'storageNodes') {
        if (this.#nodes.targetOf(packet.streamPartId) !== tracker) return
        const peers = packet.type === 'instruction' ? packet.neighbours : packet.nodes
        for (const { nodeId } of peers) node.heardOf(nodeId, tracker, maxPeersPerNode)
      } else if (packet.type === 'signal') {
        node.heardOf(packet.peerId, tracker, maxPeersPerNode)
      } else if (packet.type !== 'trackerError') {
        return
      }
    }
    this.#modules.toNode(node.nodeId, bytes)
  }

  /** A signal goes to the tracker that told of the peer. False when none did. */
  signal(from: NodeId, packet: Signal): boolean {
    const node = this.#nodes.get(from)
    if (node === undefined || this.#modules.maySignal(from, packet.peerId)) return false
    const tracker = node.whoToldOf(packet.peerId)
    if (tracker === undefined) return false
    this.#nodes.up(from, tracker, packet)
    return true
  }
}
