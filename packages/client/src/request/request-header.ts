import { fromBase64Url, toBase64Url } from '@runnel/protocol'
import type { MessageHeaders } from '../content/headers.ts'

/**
 * The header that makes a message a request: `u8 1 ‖ request id ‖ public key`, in base64url. A header, as headers are encrypted where the
 * stream is: to everybody else neither the request nor its replies can be told, and a key that is not known cannot be broken later.
 */
export const requestHeader = 'runnel-request'

/** What a responder has to know beside the content of a request. */
export interface RequestTag {
  /** 16 random bytes. */
  readonly requestId: Uint8Array
  /** Of X25519, 32 bytes: replies are sealed for it. */
  readonly publicKey: Uint8Array
}

export const requestIdBytes = 16
export const publicKeyBytes = 32
const version = 1

export function requestTagText({ requestId, publicKey }: RequestTag): string {
  return toBase64Url(Uint8Array.of(version, ...requestId, ...publicKey))
}

/** Undefined where the message is no request, or one of a later version. */
export function requestTagIn(headers: MessageHeaders): RequestTag | undefined {
  const text = Object.hasOwn(headers, requestHeader) ? headers[requestHeader] : undefined
  const bytes = text === undefined ? undefined : fromBase64Url(text)
  if (bytes?.length !== 1 + requestIdBytes + publicKeyBytes || bytes[0] !== version) return undefined
  return { requestId: bytes.slice(1, 1 + requestIdBytes), publicKey: bytes.slice(1 + requestIdBytes) }
}
