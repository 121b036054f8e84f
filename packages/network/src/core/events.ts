import type {
  Attach,
  Detach,
  FailureReason,
  Instruction,
  MessageBatch,
  NodeId,
  StreamId,
  StreamPartId,
} from '@runnel/protocol'

/** All that can happen to a node core. */
export type NodeEvent =
  | { readonly type: 'join'; readonly streamPartId: StreamPartId }
  | { readonly type: 'leave'; readonly streamPartId: StreamPartId }
  /** The tracker that serves the stream part is new, or its connection is: counters start again. */
  | { readonly type: 'trackerSession'; readonly streamPartId: StreamPartId }
  | { readonly type: 'instruction'; readonly instruction: Instruction }
  | { readonly type: 'linkOpened'; readonly peerId: NodeId }
  | { readonly type: 'linkFailed'; readonly peerId: NodeId; readonly reason: FailureReason }
  | { readonly type: 'linkClosed'; readonly peerId: NodeId }
  | { readonly type: 'control'; readonly peerId: NodeId; readonly packet: Attach | Detach }
  /** `packet` is the data packet as it came, header included; it and the batch must stay as they are. */
  | {
      readonly type: 'data'
      readonly peerId: NodeId
      readonly batch: MessageBatch
      readonly packet: Uint8Array
    }
  /** A batch of a version this build does not know: an honest newer node may send it. */
  | { readonly type: 'unsupported'; readonly peerId: NodeId; readonly detail: string }
  | { readonly type: 'malformed'; readonly peerId: NodeId; readonly detail: string }
  | { readonly type: 'publish'; readonly batch: MessageBatch; readonly packet: Uint8Array }
  /** `resolve` ended; the policy has an answer, unless it failed. */
  | {
      readonly type: 'publisherResolved'
      readonly streamId: StreamId
      readonly publisherId: NodeId
      readonly found: boolean
    }
  | { readonly type: 'tick' }
