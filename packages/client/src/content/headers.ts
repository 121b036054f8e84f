import { EncryptionType, limits, protocolError, Reader, Writer, type StreamMessage } from '@runnel/protocol'
import { clientError, reasonOf } from '../errors.ts'
import type { EncodedContent } from './encoded-content.ts'
import { checkedKey } from './message-key.ts'

/**
 * A publisher's headers for a content, such as a trace id or a schema's name: text by name. Signed with the message, and encrypted if the
 * stream is.
 */
export type MessageHeaders = Readonly<Record<string, string>>

/** Added to a content type when headers come before the content. Clients that do not know it see bytes of an unknown type. */
const headersFlag = 0x40
/** Those from here on say that the content is compressed. */
const lastType = 0x7f

/** The header that the key of a message is in. Clients that do not know it see it among the others. */
const keyHeader = ':key'

const noHeaders: MessageHeaders = Object.freeze({})

/** Used again: what it has is copied within one call. */
const writer = new Writer()

/**
 * A content with its key and headers before it: `u8 count ‖ (short name ‖ text value)… ‖ content`, by ascending name. Throws
 * INVALID_HEADERS or INVALID_MESSAGE_KEY.
 */
export function withHeaders(
  encoded: EncodedContent,
  given: MessageHeaders = noHeaders,
  key?: string,
): EncodedContent {
  if (Object.hasOwn(given, keyHeader)) throw clientError('INVALID_HEADERS', `${keyHeader} is for keys`)
  const headers = key === undefined ? given : { ...given, [keyHeader]: checkedKey(key) }
  const names = Object.keys(headers).sort()
  if (names.length === 0) return encoded
  writer.reset()
  try {
    if (names.length > limits.maxHeaders)
      throw new RangeError(`${names.length}, at most ${limits.maxHeaders}`)
    writer.u8(names.length)
    for (const name of names) writeHeader(name, headers[name])
  } catch (cause) {
    throw clientError('INVALID_HEADERS', reasonOf(cause), { cause })
  }
  writer.raw(encoded.bytes)
  return { contentType: encoded.contentType + headersFlag, bytes: writer.view().slice() }
}

/** A content, with its own type, and what its publisher said beside it. */
export interface SplitContent {
  readonly contentType: number
  readonly content: Uint8Array
  readonly headers: MessageHeaders
  /** Not yet compared with its tag: see `requireKey`. */
  readonly key: string | undefined
}

/**
 * Splits a content into its headers, its key, and the content itself with its own type. Tells nothing of compressed or encrypted content.
 * Throws INVALID_HEADERS.
 */
export function splitHeaders({
  contentType,
  encryptionType,
  content,
}: Pick<StreamMessage, 'contentType' | 'encryptionType' | 'content'>): SplitContent {
  const hasHeaders =
    encryptionType === EncryptionType.none && contentType >= headersFlag && contentType <= lastType
  if (!hasHeaders) return { contentType, content, headers: noHeaders, key: undefined }
  const reader = new Reader(content)
  try {
    const { [keyHeader]: key, ...headers } = readHeaders(reader)
    return { contentType: contentType - headersFlag, content: reader.rest(), headers, key }
  } catch (cause) {
    throw clientError('INVALID_HEADERS', reasonOf(cause), { cause })
  }
}

function writeHeader(name: string, value: unknown): void {
  if (name === '') throw new RangeError('an empty name')
  if (typeof value !== 'string') throw new TypeError(`${name} is no text`)
  if (!value.isWellFormed()) throw new TypeError(`${name} has half a character`)
  writer.shortAscii(name, limits.maxHeaderNameBytes, 'name of a header')
  writer.text(value, limits.maxHeaderValueBytes, 'value of a header')
}

/** By ascending name, each once: equal headers have equal bytes. */
function readHeaders(reader: Reader): MessageHeaders {
  const count = reader.u8()
  if (count === 0 || count > limits.maxHeaders) throw protocolError('MALFORMED_PACKET', `${count} headers`)
  const headers: [string, string][] = []
  let before = ''
  for (let i = 0; i < count; i++) {
    const name = reader.shortAscii(limits.maxHeaderNameBytes, 'name of a header')
    if (name <= before) throw protocolError('MALFORMED_PACKET', 'names of headers out of order')
    headers.push([name, reader.text(limits.maxHeaderValueBytes, 'value of a header')])
    before = name
  }
  // Own properties, whatever their names.
  return Object.fromEntries(headers)
}
