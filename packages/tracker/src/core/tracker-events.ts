import type {
  ActingFor,
  FullStatus,
  IceServers,
  NodeId,
  NodeToTracker as AnyNodeToTracker,
  OverlayChoice,
  StreamId,
  StreamPartId,
  TrackerToNode,
} from '@runnel/protocol'
import type { TrackerErrorCode } from '../errors.ts'
import type { RegistryQuestion } from './askers.ts'
import type { Replica } from './replica.ts'

/** What nodes send; a full status is a status here. */
export type NodeToTracker = Exclude<AnyNodeToTracker, FullStatus>
/** What the core sends to nodes; ICE servers are not its business. */
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
  /** A node may not be here any more: it is removed at once, and its neighbours are told. */
  | { readonly type: 'nodeExpelled'; readonly nodeId: NodeId }
  | {
      readonly type: 'packet'
      readonly from: NodeId
      readonly packet: NodeToTracker
      /** The node was charged for it: see `TrackerCore.charge`. Default: it was not. */
      readonly isPaid?: boolean
    }
  /** The replica of a stream part's last leader, before or while the nodes of the overlay report. */
  | { readonly type: 'replica'; readonly streamPartId: StreamPartId; readonly replica: Replica }
  /**
   * Another tracker leads a stream part from now on: its nodes are redirected, and this tracker sends them nothing more
   * about it.
   */
  | { readonly type: 'handOver'; readonly streamPartId: StreamPartId; readonly leaderId: NodeId }
  /** The overlay that the owner of a stream chose; undefined for the tracker's default. */
  | { readonly type: 'overlay'; readonly streamId: StreamId; readonly overlay: OverlayChoice | undefined }
  /** The registry has no such stream: nobody can be in it. */
  | { readonly type: 'streamMissing'; readonly streamId: StreamId }
  /** The stream may exist now; any, when none is given. */
  | { readonly type: 'streamsChanged'; readonly streamId: StreamId | undefined }
  /** A registry was asked what `resolve` wanted to know; `found` when it answered. */
  | ({ readonly type: 'userResolved'; readonly found: boolean } & RegistryQuestion)
  /** The permissions to read or publish may have changed: in one stream, or in all. */
  | { readonly type: 'permissionsChanged'; readonly streamId: StreamId | undefined }
  /** The tracker stalled, and its nodes may be elsewhere: it knows nothing any more, as after a restart. */
  | { readonly type: 'stalled' }
  /** Work outside of the core had a fault. */
  | { readonly type: 'partFault'; readonly streamPartId: StreamPartId; readonly error: unknown }
  /** The time is `dueMs` or later. */
  | { readonly type: 'tick' }

/** An error in this build, with the owner of the work, if it had one. */
export interface TrackerFault {
  readonly streamPartId?: StreamPartId
  readonly nodeId?: NodeId
  readonly error: unknown
}

export type TrackerEffect =
  | { readonly type: 'send'; readonly to: NodeId; readonly packet: CoreToNode }
  /** Ask the registry what a user may do; a `userResolved` with the same question follows. */
  | ({ readonly type: 'resolve' } & RegistryQuestion)
  /** Close the connection with this reason. */
  | { readonly type: 'refuse'; readonly to: NodeId; readonly code: TrackerErrorCode; readonly text: string }
