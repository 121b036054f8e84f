import type { Gap } from '@runnel/network'
import type { MessageRef, NodeId, StreamPartId } from '@runnel/protocol'

/**
 * Messages of one chain that did not come and are given up: everything after `after`, up to and including `upTo`.
 */
export interface MessageGap {
  readonly streamPartId: StreamPartId
  readonly publisherId: NodeId
  readonly messageChainId: string
  readonly after: MessageRef
  readonly upTo: MessageRef
}

export function toMessageGap({ streamPartId, chain, after, upTo }: Gap): MessageGap {
  const { publisherId, messageChainId } = chain
  return { streamPartId, publisherId, messageChainId, after, upTo }
}
