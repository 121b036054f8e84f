import type { DelegationRef } from '../delegation/delegation-ref.ts'
import type { NodeId } from '../ids/node-id.ts'
import type { StreamId } from '../ids/stream-id.ts'

/** A place in a message chain. Ordered by timestamp, then sequence number. */
export interface MessageRef {
  /** Milliseconds since the Unix epoch, whole. */
  readonly timestamp: number
  /** Tells messages of one millisecond apart; from 0. */
  readonly sequenceNumber: number
}

/** Negative when a is before b, 0 when they are the same place, positive when a is after b. */
export function compareRefs(a: MessageRef, b: MessageRef): number {
  return a.timestamp - b.timestamp || a.sequenceNumber - b.sequenceNumber
}

/** The one that is later in its chain; `a` when they are the same. */
export function laterPlace(a: MessageRef | undefined, b: MessageRef): MessageRef {
  return a === undefined || compareRefs(a, b) < 0 ? b : a
}

/** The place just before `place`; the first one has none, and is given back. */
export function placeBefore({ timestamp, sequenceNumber }: MessageRef): MessageRef {
  if (sequenceNumber > 0) return { timestamp, sequenceNumber: sequenceNumber - 1 }
  if (timestamp > 0) return { timestamp: timestamp - 1, sequenceNumber: 2 ** 32 - 1 }
  return { timestamp, sequenceNumber }
}

/** Just the place: a message would keep its bytes alive. */
export function placeOf({ timestamp, sequenceNumber }: MessageRef): MessageRef {
  return { timestamp, sequenceNumber }
}

/** How the content is to be read. Unknown numbers are carried, not refused: content is the application's. */
export const ContentType = { binary: 0, json: 1, text: 2 } as const
/** How the content is encrypted. */
export const EncryptionType = { none: 0, aes256gcm: 1, sealedBatch: 2 } as const
/** How a batch is signed: see docs/protocol.md. */
export const SignatureType = { secp256k1Merkle: 1, delegated: 2 } as const

/** Which chain of messages: one publisher's ordered messages in one stream part. */
export interface MessageChain {
  readonly streamId: StreamId
  readonly partition: number
  readonly publisherId: NodeId
  /** Chosen by the publisher, usually once a process; tells its parallel chains apart. At most 32 bytes of ASCII. */
  readonly messageChainId: string
}

/**
 * What a later version adds to a message. Its publisher signs it, and who does not know it keeps and forwards it unread. What
 * has to be understood is no extension: it needs another type of signature or encryption, or another batch version.
 */
export interface Extension {
  /** Which extension it is; of a message each at most once. */
  readonly type: number
  readonly bytes: Uint8Array
}

/** One message as an application sees it. The views in it point into the bytes it came in. */
export interface StreamMessage extends MessageChain, MessageRef {
  /** The message before this one in its chain; undefined for the first. */
  readonly previous: MessageRef | undefined
  readonly contentType: number
  readonly encryptionType: number
  /** Which group key opens the content; empty when not encrypted. */
  readonly groupKeyId: string
  /** What later versions add, unread here. */
  readonly extensions?: readonly Extension[] | undefined
  readonly content: Uint8Array
  /** Of a message in a key part that a delegate signed, under which delegation. */
  readonly delegationRef?: DelegationRef | undefined
  /** Of a message that was sealed with its batch, that batch. */
  readonly batch?: MessageBatch | undefined
}

/**
 * What floods: one or more messages of one chain, in order, under one signature.
 * `bytes` is the whole batch as it travels; it is forwarded as it came.
 */
export interface MessageBatch {
  readonly chain: MessageChain
  /** At least one, strictly increasing. */
  readonly messages: readonly StreamMessage[]
  readonly signatureType: number
  /** Which delegation the signer acts under; undefined where the publisher signed itself. */
  readonly delegationRef: DelegationRef | undefined
  readonly signature: Uint8Array
  readonly bytes: Uint8Array
  /** Where in `bytes` the chain header is, and where each message's own bytes are: what is hashed. `[start, end)` pairs. */
  readonly headerEnd: number
  readonly messageOffsets: readonly number[]
}
