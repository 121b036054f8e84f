import type { AccessToken } from './membership.ts'
import type { Card } from '../../encryption/card.ts'
import type { ChainHead } from './gaps.ts'
import type { MessageBatch, MessageRef } from '../stream-message.ts'
import type { NodeId } from '../../ids/node-id.ts'
import type { StreamPartId } from '../../ids/stream-id.ts'
import type { WantedNeighbour } from './overlay.ts'

/** Node → tracker: I keep, or no longer keep, the messages of this stream part. */
export interface Storing {
  readonly type: 'storing'
  readonly streamPartId: StreamPartId
  readonly storing: boolean
}

/** Node → tracker: who keeps the messages of this stream part? */
export interface FindStorage {
  readonly type: 'findStorage'
  readonly requestId: number
  readonly streamPartId: StreamPartId
}

/** Tracker → node: the storage nodes it knows. For a while it relays signalling between them and the node that asked. */
export interface StorageNodes {
  readonly type: 'storageNodes'
  readonly requestId: number
  readonly streamPartId: StreamPartId
  readonly nodes: readonly WantedNeighbour[]
}

/** Which stored messages of a stream part. Both ends of a range belong to it. */
export type ResendSelection =
  | { readonly kind: 'last'; readonly count: number }
  | { readonly kind: 'range'; readonly from: MessageRef; readonly to: MessageRef }

/**
 * Node → storage node: send me these messages. Batches come in the order of their first messages, each at most once, and
 * may hold messages before and after what was asked for. The storage node may send `windowBytes` of batches (the bytes
 * of `resendData` bodies) and what `resendMore` adds; one batch may go over it.
 */
export interface Resend {
  readonly type: 'resend'
  /** Chosen by the asker; not that of a request still under way on this link. Unsigned 32 bits. */
  readonly requestId: number
  readonly streamPartId: StreamPartId
  readonly selection: ResendSelection
  /** Only of this publisher. */
  readonly publisherId: NodeId | undefined
  /** Only of this chain; goes with a publisher. */
  readonly messageChainId: string | undefined
  readonly windowBytes: number
  /** Proof that the asker acts for a user who may subscribe: see `AccessToken`. Undefined: the asker is the user. */
  readonly token: AccessToken | undefined
}

/**
 * Node → storage node: send me the newest message of each key, or of one. Answered with `resendData` and `resendEnd`, each batch once and in
 * any order, and as much as is granted: as a resend, but without a beginning. Other messages may be in the batches.
 */
export interface AskTable {
  readonly type: 'askTable'
  /** As in a resend. */
  readonly requestId: number
  readonly streamPartId: StreamPartId
  /** See `keyTagOf`. Undefined: of every key. */
  readonly tag: Uint8Array | undefined
  readonly windowBytes: number
  readonly token: AccessToken | undefined
}

/** Storage node → node: the request was accepted, and what it comes to. */
export interface ResendStart {
  readonly type: 'resendStart'
  readonly requestId: number
  /**
   * Where the selection begins and ends: of `last`, the first and the last of those messages, and two equal places when
   * there are none; what is stored from now on is not in it.
   */
  readonly from: MessageRef
  readonly to: MessageRef
  /** Messages in the selection, when it is `last` and there are fewer or just as many; 0 otherwise. */
  readonly count: number
}

export interface ResendData {
  readonly type: 'resendData'
  readonly requestId: number
  readonly batch: MessageBatch
}

/** Node → storage node: so many more bytes may be sent. */
export interface ResendMore {
  readonly type: 'resendMore'
  readonly requestId: number
  readonly bytes: number
}

/** Storage node → node: all was sent (empty code), or why not. Nothing follows. */
export interface ResendEnd {
  readonly type: 'resendEnd'
  readonly requestId: number
  readonly code: string
  readonly text: string
}

/** Node → storage node: nothing more of this, please. `resendEnd` need not come. */
export interface ResendCancel {
  readonly type: 'resendCancel'
  readonly requestId: number
}

/** Node → storage node: tell me when this message is stored durably. */
export interface AwaitStored extends ChainHead {
  readonly type: 'awaitStored'
  readonly requestId: number
  readonly streamPartId: StreamPartId
  readonly token: AccessToken | undefined
}

/** Storage node → node: it is (empty code), or why not; of a message, or of a card. */
export interface Stored {
  readonly type: 'stored'
  readonly requestId: number
  readonly code: string
  readonly text: string
}

/** Node → storage node: keep this card, and tell me. */
export interface KeepCard {
  readonly type: 'keepCard'
  readonly requestId: number
  readonly card: Card
}

/** Node → storage node: which cards have you got of these users? Each is named once. */
export interface AskCards {
  readonly type: 'askCards'
  readonly requestId: number
  readonly userIds: readonly NodeId[]
}

/** Storage node → node: those it has, at most one of each user. */
export interface Cards {
  readonly type: 'cards'
  readonly requestId: number
  readonly cards: readonly Card[]
}
