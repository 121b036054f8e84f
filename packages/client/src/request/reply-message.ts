import { nodeIdToBytes, type NodeId } from '@runnel/protocol'
import type { EncodedContent } from '../content/encoded-content.ts'
import { publicKeyBytes, requestIdBytes } from './request-header.ts'
import type { SealedReply } from './reply-suite.ts'

/** The chains of replies begin with this. */
export const replyPrefix = '~r'

/** A reply as it travels: `u8 1 ‖ request id ‖ encapsulated ‖ sealed`. */
export interface ReplyMessage extends SealedReply {
  readonly requestId: Uint8Array
}

/** What is sealed: `u8 0 ‖ u8 content type ‖ content`, or `u8 1 ‖ UTF-8` where the responder failed. */
export type ReplyContent = EncodedContent | { readonly failure: string }

const version = 1
const [answered, failed] = [0, 1]
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function encodeReply({ requestId, encapsulated, sealed }: ReplyMessage): Uint8Array {
  return joined(Uint8Array.of(version), requestId, encapsulated, sealed)
}

/** Undefined where it is none, or of a later version. */
export function decodeReply(bytes: Uint8Array): ReplyMessage | undefined {
  const idEnd = 1 + requestIdBytes
  const sealedAt = idEnd + publicKeyBytes
  if (bytes[0] !== version || bytes.length < sealedAt) return undefined
  return {
    requestId: bytes.slice(1, idEnd),
    encapsulated: bytes.slice(idEnd, sealedAt),
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

/** What a reply is sealed for: one request, one responder, one stream. Moved to any other it does not open. */
export function replyInfo(requestId: Uint8Array, responderId: NodeId, streamId: string): Uint8Array {
  const label = encoder.encode('runnel reply\0')
  return joined(label, requestId, nodeIdToBytes(responderId), encoder.encode(streamId))
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
