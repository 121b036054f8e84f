import type { WithheldMessages } from '@runnel/network'
import type { MessageRef, NodeId, StreamPartId } from '@runnel/protocol'

/**
 * A host of this light client did not bring messages that other hosts or storage nodes brought. The host brought later messages all
 * the same, had ten seconds, and was asked twice. Signatures prove that the messages exist, but nothing proves that the host had them:
 * `deliveredBy` may have kept them from it, together with the publisher. So suspect a host only if this concerns several publishers,
 * or if hosts of several operators brought what it did not.
 */
export interface MessagesWithheld {
  readonly streamPartId: StreamPartId
  readonly hostId: NodeId
  readonly publisherId: NodeId
  readonly messageChainId: string
  /** Messages after `after`, up to and including `upTo`, which is itself missing. */
  readonly ranges: readonly { readonly after: MessageRef; readonly upTo: MessageRef }[]
  readonly messages: number
  /** The hosts that brought the messages; empty if storage nodes did. */
  readonly deliveredBy: readonly NodeId[]
}

export function toMessagesWithheld({ chain, ...withheld }: WithheldMessages): MessagesWithheld {
  const { publisherId, messageChainId } = chain
  return { ...withheld, publisherId, messageChainId }
}
