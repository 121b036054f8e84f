import type { WithheldMessages } from '@runnel/network'
import type { MessageRef, NodeId, StreamPartId } from '@runnel/protocol'

/**
 * A host of this light client did not bring messages that exist: others brought them, or storage nodes. It brought later messages
 * all the same, had ten seconds, and was asked twice. Their signatures prove that the messages exist, and nothing proves that the host
 * had them: `deliveredBy` may have kept them from it, together with the publisher. So believe it of a host when it is about several
 * publishers, or when hosts of several operators brought what it did not.
 */
export interface MessagesWithheld {
  readonly streamPartId: StreamPartId
  readonly hostId: NodeId
  readonly publisherId: NodeId
  readonly messageChainId: string
  /** After `after`, up to and including `upTo`, which is one of them. */
  readonly ranges: readonly { readonly after: MessageRef; readonly upTo: MessageRef }[]
  readonly messages: number
  /** The hosts that brought them; none where storage nodes did. */
  readonly deliveredBy: readonly NodeId[]
}

export function toMessagesWithheld({ chain, ...withheld }: WithheldMessages): MessagesWithheld {
  const { publisherId, messageChainId } = chain
  return { ...withheld, publisherId, messageChainId }
}
