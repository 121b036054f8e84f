import type {
  ActingFor,
  Delegation,
  IceServers,
  NodeId,
  NodeToTracker,
  OverlayChoice,
  StreamId,
  StreamPartId,
  TrackerToNode,
} from '@runnel/protocol'
import type { TrackerErrorCode } from '../errors.ts'
import type { Replica } from './replica.ts'

export type { NodeToTracker }
/** What the core sends to nodes; of ICE servers it knows nothing. */
export type CoreToNode = Exclude<TrackerToNode, IceServers>

export type TrackerEvent =
  /** An authenticated connection of a node is open; an older one of the same node counts no longer. */
  | {
      readonly type: 'nodeConnected'
      readonly nodeId: NodeId
      readonly network?: string | undefined
      readonly actingFor?: ActingFor | undefined
    }
  /** A node acts for its user until later than before. */
  | {
      readonly type: 'credentialRenewed'
      readonly nodeId: NodeId
      readonly actingFor: ActingFor | undefined
    }
  /** The newest connection of a node is closed. */
  | { readonly type: 'nodeDisconnected'; readonly nodeId: NodeId }
  /** A node may not be here any more: it is taken out at once, and its neighbours are told. */
  | { readonly type: 'nodeExpelled'; readonly nodeId: NodeId }
  | {
      readonly type: 'packet'
      readonly from: NodeId
      readonly packet: NodeToTracker
      /** The node was charged for it: see `TrackerCore.charge`. Default: it was not. */
      readonly isPaid?: boolean
    }
  /** What the last tracker of a stream part left behind, before or while the nodes of the overlay report. */
  | { readonly type: 'replica'; readonly streamPartId: StreamPartId; readonly replica: Replica }
  /** Another tracker leads a stream part from now on: its nodes are sent there, and hear nothing more of it from here. */
  | { readonly type: 'handOver'; readonly streamPartId: StreamPartId; readonly leaderId: NodeId }
  /** What the owner of a stream wants its overlays to be; undefined for what the tracker makes of others. */
  | { readonly type: 'overlay'; readonly streamId: StreamId; readonly overlay: OverlayChoice | undefined }
  /** The registry has no such stream: nobody can be in it. */
  | { readonly type: 'streamMissing'; readonly streamId: StreamId }
  /** There may be such a stream by now; any, when none is given. */
  | { readonly type: 'streamsChanged'; readonly streamId: StreamId | undefined }
  /** A registry was asked about a user, as `resolve` wanted; `found` when it answered. */
  | {
      readonly type: 'userResolved'
      readonly streamId: StreamId
      readonly userId: NodeId
      readonly found: boolean
    }
  /** Who may read or publish may have changed: in one stream, or in all. */
  | { readonly type: 'permissionsChanged'; readonly streamId: StreamId | undefined }
  /** The tracker stood still, and everybody may be elsewhere: it knows nothing any more, as after a restart. */
  | { readonly type: 'stalled' }
  /** There was a fault in its work outside of the core. */
  | { readonly type: 'partFault'; readonly streamPartId: StreamPartId; readonly error: unknown }
  /** The time is `dueMs` or later. */
  | { readonly type: 'tick' }

/** An error in this build: in whose work it was, as far as it was somebody's. */
export interface TrackerFault {
  readonly streamPartId?: StreamPartId
  readonly nodeId?: NodeId
  readonly error: unknown
}

export type TrackerEffect =
  | { readonly type: 'send'; readonly to: NodeId; readonly packet: CoreToNode }
  /** Ask the registry what a user may do; a `userResolved` follows. `cause` is the network, or the node, that makes us ask. */
  | {
      readonly type: 'resolve'
      readonly streamId: StreamId
      readonly userId: NodeId
      readonly delegation: Delegation | undefined
      readonly cause: string
    }
  /** Close the connection, saying why. */
  | { readonly type: 'refuse'; readonly to: NodeId; readonly code: TrackerErrorCode; readonly text: string }
