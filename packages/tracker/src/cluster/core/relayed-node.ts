import type { NodeId, Status, StreamPartId } from '@runnel/protocol'
import type { NodeToTracker } from '../../core/tracker-core.ts'

/** What a relayed node last said of a stream part: enough to introduce it again, elsewhere or here. */
export interface RelayedPart {
  readonly status: Status | undefined
  readonly storing: boolean
}

/** A node that is connected here, and has something to do with trackers that lead. */
export class RelayedNode {
  readonly nodeId: NodeId
  readonly parts = new Map<StreamPartId, RelayedPart>()
  /** Trackers that know of it. */
  readonly open = new Set<NodeId>()
  /** Which tracker told it of a peer, the latest last. */
  readonly #peers = new Map<NodeId, NodeId>()

  constructor(nodeId: NodeId) {
    this.nodeId = nodeId
  }

  remember(packet: Extract<NodeToTracker, { readonly streamPartId: StreamPartId }>): void {
    const { streamPartId: id } = packet
    const before = this.parts.get(id) ?? { status: undefined, storing: false }
    if (packet.type === 'status') {
      // In each session a node says anew what it stores.
      const storing = before.storing && packet.session <= (before.status?.session ?? 0)
      // A failure was reported by the packet itself; told again it would be another one.
      this.parts.set(id, { storing, status: { ...packet, failed: [] } })
    } else if (packet.type === 'storing') this.parts.set(id, { ...before, storing: packet.storing })
    else this.parts.set(id, before)
  }

  /** Whether it has reported in a later session. */
  hasReportedSince({ streamPartId, session }: Status): boolean {
    return session < (this.parts.get(streamPartId)?.status?.session ?? 0)
  }

  heardOf(peer: NodeId, tracker: NodeId, maxPeers: number): void {
    this.#peers.delete(peer)
    this.#peers.set(peer, tracker)
    if (this.#peers.size <= maxPeers) return
    for (const oldest of this.#peers.keys()) {
      this.#peers.delete(oldest)
      return
    }
  }

  /** Where signals to a peer go: to the tracker that told of it, or else to any. */
  whoToldOf(peer: NodeId): NodeId | undefined {
    const tracker = this.#peers.get(peer)
    return tracker !== undefined && this.open.has(tracker) ? tracker : [...this.open][0]
  }
}
