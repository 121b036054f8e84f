import type { MessageRef, NodeId, RunnelError, StreamPartId } from '@runnel/protocol'

/** A message that was left out, and why. */
export interface UndecodableMessage {
  readonly streamPartId: StreamPartId
  readonly publisherId: NodeId
  readonly messageChainId: string
  readonly ref: MessageRef
  /** As in `Message`. */
  readonly keyId: string | undefined
  readonly error: RunnelError
}
