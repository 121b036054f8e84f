import type { Equivocation } from '@runnel/network'
import type { MessageRef, NodeId, StreamPartId } from '@runnel/protocol'

/**
 * A publisher signed two different messages for one place of a chain, so that not all subscribers got the same message.
 * All nodes agree which of the two counts (`winsOver` of the protocol); the other one is neither stored nor sent again.
 */
export interface MessageEquivocation {
  readonly streamPartId: StreamPartId
  readonly publisherId: NodeId
  readonly messageChainId: string
  readonly place: MessageRef
  /** The batch that counts, as it travels: together with the other one it proves to anybody what the publisher did. */
  readonly winner: Uint8Array
  readonly loser: Uint8Array
  /** Which of the two is delivered here. */
  readonly delivered: 'winner' | 'loser'
}

/** With copies of the batches: they are views of what the node needs again. */
export function toMessageEquivocation(equivocation: Equivocation): MessageEquivocation {
  const { streamPartId, place, winner, loser, delivered } = equivocation
  const { publisherId, messageChainId } = winner.chain
  return {
    streamPartId,
    publisherId,
    messageChainId,
    place,
    winner: winner.bytes.slice(),
    loser: loser.bytes.slice(),
    delivered,
  }
}
