import { nodeIdToBytes, type NodeId } from '@runnel/protocol'
import type { EncodedContent } from '../content/encoded-content.ts'
import { publicKeyBytes, requestIdBytes } from './request-header.ts'

/** The chains of replies begin with this. */
export const replyPrefix = '~r'

/** What travels of a sealed reply. */
export interface SealedReply {
  /** 32 bytes: what asker and responder agreed on. */
  readonly encapsulated: Uint8Array
  /** Of the replies by this responder for these keys, from 0 on. */
  readonly number: number
  /** 16 bytes longer than what is sealed. */
  readonly sealed: Uint8Array
}

/** A reply as it travels: `u8 1 ‖ request id ‖ encapsulated ‖ u32 number ‖ sealed`. */
export interface ReplyMessage extends SealedReply {
  readonly requestId: Uint8Array
}

/** What is sealed: `u8 0 ‖ u8 content type ‖ content`, or `u8 1 ‖ UTF-8` where the responder failed. */
export type ReplyContent = EncodedContent | { readonly failure: string }

const version = 1
const encapsulatedAt = 1 + requestIdBytes
const numberAt = encapsulatedAt + publicKeyBytes
const numberBytes = 4
const [answered, failed] = [0, 1]
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function encodeReply({ requestId, encapsulated, number, sealed }: ReplyMessage): Uint8Array {
  const bytes = joined(Uint8Array.of(version), requestId, encapsulated, new Uint8Array(numberBytes), sealed)
  new DataView(bytes.buffer).setUint32(numberAt, number)
  return bytes
}

/** Undefined where it is none, or of a later version. */
export function decodeReply(bytes: Uint8Array): ReplyMessage | undefined {
  const sealedAt = numberAt + numberBytes
  if (bytes[0] !== version || bytes.length < sealedAt) return undefined
  return {
    requestId: bytes.slice(1, encapsulatedAt),
    encapsulated: bytes.slice(encapsulatedAt, numberAt),
    number: new DataView(bytes.buffer, bytes.byteOffset).getUint32(numberAt),
    sealed: bytes.slice(sealedAt),
  }
}

export function encodeReplyContent(content: ReplyContent): Uint8Array {
  if ('failure' in content) return joined(Uint8Array.of(failed), encoder.encode(content.failure))
  return joined(Uint8Array.of(answered, content.contentType), content.bytes)
}

/** Undefined for what is none, or of a later version. */
export function decodeReplyContent(bytes: Uint8Array): ReplyContent | undefined {
  const [kind, contentType] = bytes
  if (kind === failed) return { failure: decoder.decode(bytes.subarray(1)) }
  if (kind !== answered || contentType === undefined) return undefined
  return { contentType, bytes: bytes.slice(2) }
}

/** What an asker and a responder agree about: one responder, one stream. A reply moved to any other does not open. */
export function replyInfo(responderId: NodeId, streamId: string): Uint8Array {
  return joined(encoder.encode('runnel reply\0'), nodeIdToBytes(responderId), encoder.encode(streamId))
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
