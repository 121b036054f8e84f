import type {
  Contact,
  ControlPacket,
  Delegation,
  FailureReason,
  Instruction,
  MessageBatch,
  NodeId,
  PermissionScope,
  RunnelError,
  StreamId,
  StreamPartId,
  TrackerToNode,
} from '@runnel/protocol'
import type { Gap } from '../ports.ts'
import type { Way } from './tracker-link/way.ts'

/** Every event of a node core. */
export type NodeEvent =
  | OverlayEvent
  | { readonly type: 'trackerOpened'; readonly way: Way }
  /** A dial failed, or the connection was lost. */
  | { readonly type: 'trackerClosed'; readonly way: Way; readonly wasOpen: boolean }
  | { readonly type: 'trackerPacket'; readonly way: Way; readonly packet: TrackerToNode }
  /** The responsible trackers may have changed. */
  | { readonly type: 'directoryChanged' }
  /** Everything that happened in this turn was handled: see the effect `awaitTurnEnd`. */
  | { readonly type: 'turnEnded' }
  /** This node is reached in another way than before: trackers are to be told. */
  | { readonly type: 'contactChanged' }
  /** Trackers are to be told of the new membership token. */
  | { readonly type: 'tokenRenewed' }
  | { readonly type: 'offerStorage'; readonly streamPartId: StreamPartId; readonly storing: boolean }
  /** The application asks who stores a stream part, until `storageSearchEnded`. */
  | { readonly type: 'findStorage'; readonly requestId: number; readonly streamPartId: StreamPartId }
  /** The node has started: a light one looks for its hosts. */
  | { readonly type: 'started' }
  /** A host's link is about to open, or is open already. */
  | { readonly type: 'hostFound'; readonly url: string; readonly peerId: NodeId }
  | { readonly type: 'hostFailed'; readonly url: string; readonly error: RunnelError }
  | { readonly type: 'storageSearchEnded'; readonly requestId: number }
  /** The peer was found through a tracker of the stream part: signals for it go there. */
  | { readonly type: 'found'; readonly peerId: NodeId; readonly streamPartId: StreamPartId }

/** The connection to a tracker that was lost before there was one to this tracker: to the same one, or to another. */
export type LostConnection = 'this' | 'other'

/** Every event of overlays. */
export type OverlayEvent =
  /** If joined already, only the rest changes. Without `reads` the node is a feeder. `keepsLatest`: see `LatestBatches`. */
  | {
      readonly type: 'join'
      readonly streamPartId: StreamPartId
      readonly fillGaps: boolean
      readonly reads: boolean
      readonly keepsLatest?: boolean
      readonly lookBackMs?: number
    }
  | { readonly type: 'leave'; readonly streamPartId: StreamPartId }
  /** The stream part has a new tracker, or a new connection to it: counters start again. `lost`: signals may have been lost. */
  | {
      readonly type: 'trackerSession'
      readonly streamPartId: StreamPartId
      readonly lost?: LostConnection | undefined
    }
  | { readonly type: 'instruction'; readonly instruction: Instruction }
  /** `attached`: the peer has had our attach there, behind our proof (`NodeCore.firstAttach`). */
  | {
      readonly type: 'linkOpened'
      readonly peerId: NodeId
      readonly attached?: StreamPartId | undefined
    }
  | { readonly type: 'linkFailed'; readonly peerId: NodeId; readonly reason: FailureReason }
  | { readonly type: 'linkClosed'; readonly peerId: NodeId; readonly reason?: string }
  /** The hosts of a light node are these from now on. */
  | { readonly type: 'useHosts'; readonly hosts: readonly NodeId[] }
  | { readonly type: 'control'; readonly peerId: NodeId; readonly packet: ControlPacket }
  /** `packet` is the data packet as it came, header included; neither it nor the batch may change afterwards. */
  | {
      readonly type: 'data'
      readonly peerId: NodeId
      readonly batch: MessageBatch
      readonly packet: Uint8Array
    }
  /** Nor may this batch change. */
  | {
      readonly type: 'urgent'
      readonly peerId: NodeId
      readonly remainingMs: number
      readonly batch: MessageBatch
    }
  /** A batch of a version this build does not know: an honest newer node may send it. */
  | { readonly type: 'unsupported'; readonly peerId: NodeId; readonly detail: string }
  /** A batch came with an alias in place of its header that was not given, or is forgotten. */
  | { readonly type: 'unknownAlias'; readonly peerId: NodeId }
  | { readonly type: 'malformed'; readonly peerId: NodeId; readonly detail: string }
  /** A batch from the archive. */
  | { readonly type: 'archived'; readonly batch: MessageBatch; readonly packet: Uint8Array }
  | { readonly type: 'archiveEnded'; readonly gap: Gap }
  /** The application uses the link to a peer, or no longer; with a contact it is opened. */
  | { readonly type: 'hold'; readonly peerId: NodeId; readonly contact: Contact | undefined }
  | { readonly type: 'unhold'; readonly peerId: NodeId }
  | { readonly type: 'publish'; readonly batch: MessageBatch; readonly packet: Uint8Array }
  /** `resolve` ended; unless it failed, the policy now has an answer. */
  | {
      readonly type: 'publisherResolved'
      readonly scope: PermissionScope
      readonly publisherId: NodeId
      /** The one that it was about. */
      readonly delegation?: Delegation | undefined
      readonly found: boolean
    }
  /** Like `publisherResolved`, for readers. */
  | {
      readonly type: 'readerResolved'
      readonly scope: PermissionScope
      readonly userId: NodeId
      readonly found: boolean
    }
  /** A peer with a link acts for its user until later than before. */
  | { readonly type: 'credentialRenewed'; readonly peerId: NodeId }
  /** Who may read or publish may have changed: in one stream, or in all. */
  | { readonly type: 'permissionsChanged'; readonly streamId: StreamId | undefined }
  /** Work outside of this core threw. */
  | { readonly type: 'partFault'; readonly streamPartId: StreamPartId; readonly error: unknown }
  /** The network is back: what failed without it need not wait. */
  | { readonly type: 'networkBack' }
  | { readonly type: 'tick' }
