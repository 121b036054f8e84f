import type { NodeId, Status, StreamPartId } from '@runnel/protocol'
import type { NodeToTracker, ReleasedNode } from '../../core/tracker-core.ts'
import type { ClusterLimits } from '../limits.ts'
import type { ClusterCounterName } from './cluster-counters.ts'
import type { LeadershipModules } from './leadership.ts'
import type { RelayModules } from './relayed-nodes.ts'

export type RouterLimits = Pick<
  ClusterLimits,
  'handOverAfterMs' | 'leaveDelayMs' | 'relayRetryMs' | 'maxPeersPerNode'
> & { readonly maxStreamPartsPerNode: number }

/** What the router has others do, and asks of them. When it is known which trackers a stream names, `streamKnown` follows. */
export interface RouterModules extends LeadershipModules, Omit<RelayModules, 'isLinked' | 'count'> {
  toNode(node: NodeId, packet: Uint8Array): void
  toCore(node: NodeId, packet: NodeToTracker): void
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

/** A packet of a node about a stream part. */
export type PartPacket = Extract<NodeToTracker, { readonly streamPartId: StreamPartId }>
