import type { NodeId } from '@runnel/protocol'

/** A tracker's state in the cluster. */
export type ClusterState =
  /** The registry does not list it. */
  | 'unregistered'
  /** It is the only registered one. */
  | 'alone'
  /** It listens for other trackers. */
  | 'joined'
  /** It cannot listen for other trackers, and tries again. */
  | 'failed'

/** A registered tracker as another one sees it. */
export interface ClusterTrackerView {
  readonly nodeId: NodeId
  readonly url: string
  /** It is the tracker that answers the request. */
  readonly self: boolean
  readonly linked: boolean
  /** Why the last attempt to reach it failed; null when it succeeded. */
  readonly error: string | null
  /** What it last reported of itself; null when that is too long ago. */
  readonly load: { readonly nodes: number; readonly leads: number; readonly replicas: number } | null
}

/** What can be asked for often: it costs nothing with the number of nodes and records. */
export type ClusterFigures = Pick<ClusterView, 'leads' | 'replicas' | 'circuitsOut' | 'circuitsIn'>

/** The cluster as one tracker sees it; `GET /v1/cluster`. */
export interface ClusterView {
  readonly nodeId: NodeId
  readonly state: ClusterState
  /** Its id in the cluster; null until it listens. */
  readonly peerId: string | null
  /** Where other trackers dial it. */
  readonly addresses: readonly string[]
  /** Stream parts it leads. */
  readonly leads: number
  /** Stream parts of others of which it has a replica. */
  readonly replicas: number
  /** Open circuits of nodes over this tracker to others. */
  readonly circuitsOut: number
  /** Nodes that are connected here by circuits over other trackers. */
  readonly circuitsIn: number
  readonly trackers: readonly ClusterTrackerView[]
}
