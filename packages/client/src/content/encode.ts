import { ContentType, limits } from '@runnel/protocol'
import { clientError, reasonOf } from '../errors.ts'
import type { EncodedContent } from './encoded-content.ts'
import { withHeaders, type MessageHeaders } from './headers.ts'
import { checkDepth } from './json-depth.ts'
import { jsonTextOf } from './json-text.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What bytes are that are not to travel as binary. */
export type BytesAre = 'json' | 'text'

/**
 * Bytes travel as binary, or as the JSON or text that they are; a string as text, anything else as JSON, and come out as they went in;
 * what JSON would change or leave out is refused (`jsonTextOf`).
 * Bytes are copied: the caller may go on using its buffer. Throws INVALID_CONTENT, INVALID_HEADERS, INVALID_MESSAGE_KEY or MESSAGE_TOO_LARGE.
 */
export function encodeContent(
  content: unknown,
  headers?: MessageHeaders,
  key?: string,
  bytesAre?: BytesAre,
): EncodedContent {
  const encoded = withHeaders(encode(content, bytesAre), headers, key)
  if (encoded.bytes.length > limits.maxContentBytes) {
    throw clientError('MESSAGE_TOO_LARGE', `${encoded.bytes.length} bytes, at most ${limits.maxContentBytes}`)
  }
  return encoded
}

function encode(content: unknown, bytesAre?: BytesAre): EncodedContent {
  if (content instanceof Uint8Array) {
    // Before copying, so that a mistake costs no memory; and without Buffer's own slice, which does not copy.
    if (content.length > limits.maxContentBytes) return { contentType: ContentType.binary, bytes: content }
    if (bytesAre !== undefined) checkBytes(content, bytesAre)
    const contentType = bytesAre === undefined ? ContentType.binary : ContentType[bytesAre]
    return { contentType, bytes: new Uint8Array(content) }
  }
  if (bytesAre !== undefined) throw clientError('INVALID_CONTENT', 'bytesAre is said of a Uint8Array')
  if (typeof content === 'string') return { contentType: ContentType.text, bytes: encoder.encode(content) }
  return { contentType: ContentType.json, bytes: toJson(content) }
}

function checkBytes(bytes: Uint8Array, are: BytesAre): void {
  try {
    const text = decoder.decode(bytes)
    if (are !== 'json') return
    JSON.parse(text)
    checkDepth(bytes)
  } catch (cause) {
    // The parser's own message would quote the content.
    throw clientError('INVALID_CONTENT', `${bytes.length} bytes that are no ${are}`, { cause })
  }
}

function toJson(content: unknown): Uint8Array {
  try {
    const bytes = encoder.encode(jsonTextOf(content))
    // Nobody could read it.
    checkDepth(bytes)
    return bytes
  } catch (cause) {
    throw clientError('INVALID_CONTENT', reasonOf(cause), { cause })
  }
}
