import type { MessageBatch, MessageRef } from '../stream-message.ts'
import type { NodeId } from '../../ids/node-id.ts'
import type { StreamPartId } from '../../ids/stream-id.ts'

/** How far a node has got in one message chain. */
export interface ChainHead extends MessageRef {
  readonly publisherId: NodeId
  readonly messageChainId: string
}

/** What is missing in a message chain: everything after `after`, up to and including `upTo`. */
export interface MissingRange {
  readonly after: MessageRef
  readonly upTo: MessageRef
}

/** "Send me what you have of these ranges of one chain": asked of a neighbour, answered with data and then `fetched`. */
export interface Fetch {
  readonly type: 'fetch'
  /** Chosen by the asker, comes back in `fetched`. Unsigned 32 bits. */
  readonly requestId: number
  readonly streamPartId: StreamPartId
  readonly publisherId: NodeId
  readonly messageChainId: string
  /** At least one; in order, each beginning where the one before ends or later. */
  readonly ranges: readonly MissingRange[]
}

/** The end of an answer to `fetch`. */
export interface Fetched {
  readonly type: 'fetched'
  readonly requestId: number
  /** False when there was more than fits one answer: what is still missing can be asked for again. */
  readonly complete: boolean
}

/** How far I have got: a neighbour that is behind learns of what it missed at the end of a chain. */
export interface Heads {
  readonly type: 'heads'
  readonly streamPartId: StreamPartId
  readonly heads: readonly ChainHead[]
}

/** "Which is the newest message that you know of this key?" Asked of a neighbour, answered with `latest`. */
export interface AskLatest {
  readonly type: 'askLatest'
  /** Chosen by the asker, comes back in `latest`. Unsigned 32 bits. */
  readonly requestId: number
  readonly streamPartId: StreamPartId
  /** See `keyTagOf`. Undefined: the newest of all, with a key or without. */
  readonly tag: Uint8Array | undefined
}

/** The batch that the message is in; undefined where the neighbour knows none. The asker checks it like any other, and does not flood it. */
export interface Latest {
  readonly type: 'latest'
  readonly requestId: number
  readonly batch: MessageBatch | undefined
}
