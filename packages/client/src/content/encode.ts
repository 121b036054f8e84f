import { ContentType, limits } from '@runnel/protocol'
import { clientError, reasonOf } from '../errors.ts'
import type { EncodedContent } from './encoded-content.ts'
import { withHeaders, type MessageHeaders } from './headers.ts'

const encoder = new TextEncoder()

/**
 * Bytes travel as binary, a string as text, anything else as JSON, and come out as they went in. Bytes are copied: the
 * caller may go on using its buffer. Throws INVALID_CONTENT, INVALID_HEADERS, INVALID_MESSAGE_KEY or MESSAGE_TOO_LARGE.
 */
export function encodeContent(content: unknown, headers?: MessageHeaders, key?: string): EncodedContent {
  const encoded = withHeaders(encode(content), headers, key)
  if (encoded.bytes.length > limits.maxContentBytes) {
    throw clientError('MESSAGE_TOO_LARGE', `${encoded.bytes.length} bytes, at most ${limits.maxContentBytes}`)
  }
  return encoded
}

function encode(content: unknown): EncodedContent {
  if (content instanceof Uint8Array) {
    // Before copying, so that a mistake costs no memory; and without Buffer's own slice, which does not copy.
    if (content.length > limits.maxContentBytes) return { contentType: ContentType.binary, bytes: content }
    return { contentType: ContentType.binary, bytes: new Uint8Array(content) }
  }
  if (typeof content === 'string') return { contentType: ContentType.text, bytes: encoder.encode(content) }
  return { contentType: ContentType.json, bytes: encoder.encode(toJson(content)) }
}

function toJson(content: unknown): string {
  let json: string | undefined
  try {
    json = JSON.stringify(content)
  } catch (cause) {
    throw clientError('INVALID_CONTENT', reasonOf(cause), { cause })
  }
  if (json === undefined) throw clientError('INVALID_CONTENT', `JSON cannot express ${typeof content}`)
  return json
}
