import type { Delegation } from '../../delegation/delegation.ts'
import type { DelegationRef } from '../../delegation/delegation-ref.ts'
import type { MessageBatch, MessageRef } from '../stream-message.ts'
import type { NodeId } from '../../ids/node-id.ts'
import type { StreamPartId } from '../../ids/stream-id.ts'

/** A flooded message of an urgent chain: alone in its batch, see `urgentMessageOf`. It may be lost, and is not looked for. */
export interface Urgent {
  readonly type: 'urgent'
  /**
   * What is left of the message's lifetime, whole milliseconds: whoever sends it on subtracts the time it waited and half of the link's
   * round trip. At most the lifetime that is signed.
   */
  readonly remainingMs: number
  readonly batch: MessageBatch
}

/** Flooded messages. */
export interface Data {
  readonly type: 'data'
  readonly batch: MessageBatch
}

/**
 * How a neighbour sends the batches of a message chain: as they come; after a while those that the asker has not got by then; or only when
 * they are fetched. Of the last two it tells the places in digests.
 */
export const floodModes = ['eager', 'standby', 'digest'] as const
export type FloodMode = (typeof floodModes)[number]

/** "Send me this chain like that from now on, for so long." Asked of a neighbour, who sends eagerly whenever nothing else is asked. */
export interface Thin {
  readonly type: 'thin'
  readonly streamPartId: StreamPartId
  readonly publisherId: NodeId
  readonly messageChainId: string
  /** Stands for the chain in digests; chosen by the asker, unique among its own. Unsigned 32 bits. */
  readonly alias: number
  readonly mode: FloodMode
  /** In milliseconds; after it the mode is `eager`. */
  readonly forMs: number
}

/** A batch that the sender has, by the place of its last message. */
export interface DigestEntry extends MessageRef {
  readonly alias: number
  /** Whose alias it is: true of the sender's, in an answer to a standby that did not ask for digests itself. */
  readonly isSenders: boolean
  /** Tells two batches apart that were signed for one place: see `digestCheck`. */
  readonly check: number
}

/** "These batches I have": of chains that the receiver asked to be told of, or is standby for. */
export interface Digest {
  readonly type: 'digest'
  /** At least one. */
  readonly entries: readonly DigestEntry[]
}

/** An urgent message, by its place and by the alias that the node which asked for less gave its chain. */
export interface UrgentPlace extends MessageRef {
  /** Unsigned 32 bits. */
  readonly alias: number
}

/** "These urgent messages I have": to who asked, by `thin`, to be told of them in place of copies. */
export interface UrgentDigest {
  readonly type: 'urgentDigest'
  /** At least one; `check` as in a digest. */
  readonly entries: readonly (UrgentPlace & Pick<DigestEntry, 'check'>)[]
}

/** "Send me these, if there is time left": of those that the receiver named in a digest. */
export interface UrgentPull {
  readonly type: 'urgentPull'
  /** At least one. */
  readonly entries: readonly UrgentPlace[]
}

/**
 * Flooded messages that say how long they have been under way: nodes that measure send these in place of `data`. Nobody
 * signs the trace, and nothing but measurements may depend on it. A node that does not measure takes the batch and
 * forwards it as `data`.
 */
export interface Traced {
  readonly type: 'traced'
  /** Links taken so far, this one not included. */
  readonly hops: number
  /** Since it was published until it was sent, in whole microseconds. */
  readonly ageUs: number
  /** When it was sent, by the sender's monotonic clock, in whole microseconds. */
  readonly sentUs: number
  readonly batch: MessageBatch
}

/** "What time is it?" Asked by nodes that measure; others need not answer. */
export interface ClockAsk {
  readonly type: 'clockAsk'
  /** Comes back in the answer. Unsigned 32 bits. */
  readonly token: number
}

/** The answerer's monotonic clock, in whole microseconds from any moment. */
export interface ClockTell {
  readonly type: 'clockTell'
  readonly token: number
  readonly atUs: number
}

/** Under which delegation batches are signed that come next on this link. */
export interface DelegationPacket {
  readonly type: 'delegation'
  readonly delegation: Delegation
}

/** The sender got a batch with this reference, and has not got the delegation. */
export interface AskDelegation {
  readonly type: 'askDelegation'
  readonly ref: DelegationRef
}
