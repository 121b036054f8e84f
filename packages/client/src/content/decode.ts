import {
  ContentType,
  EncryptionType,
  isRemoval,
  isRunnelError,
  toStreamPartId,
  urgentFieldsOf,
  type StreamMessage,
} from '@runnel/protocol'
import { clientError, reasonOf } from '../errors.ts'
import type { StatusHub } from '../status.ts'
import type { Message } from '../subscribe/message.ts'
import type { UndecodableMessage } from './undecodable-message.ts'
import { splitHeaders } from './headers.ts'
import { checkDepth } from './json-depth.ts'
import { requireKey } from './message-key.ts'
import { checkContent, type ContentSchema } from './content-schema.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const contentTypes = new Map<number, Message['contentType']>([
  [ContentType.binary, 'binary'],
  [ContentType.json, 'json'],
  [ContentType.text, 'text'],
])

/** How messages are decoded for the application. */
export interface Decoding<T = unknown> {
  /** Deliver every content as the bytes it arrived in. Default false. */
  readonly raw?: boolean | undefined
  /** Deliver opened content as the bytes of its text or JSON, which are the published bytes. Default false. */
  readonly asBytes?: boolean | undefined
  /** The expected content; a message that does not fit is left out, like one that cannot be decoded. Default: anything. */
  readonly schema?: ContentSchema<T> | undefined
}

/**
 * A message for the application, sharing no memory with the bytes it came in. Throws ENCRYPTED_CONTENT, INVALID_JSON_CONTENT or
 * INVALID_TEXT_CONTENT, none of them when `raw`, only the first `asBytes`, INVALID_HEADERS, MESSAGE_KEY_MISMATCH and CONTENT_MISMATCH. `sealed` is the message as it came.
 */
export function decodeMessage(
  message: StreamMessage,
  { raw = false, asBytes = raw, schema }: Decoding = {},
  sealed = message,
): Message {
  const { streamId, partition, publisherId, messageChainId, timestamp, sequenceNumber, previous } = message
  if (message.encryptionType !== EncryptionType.none && !raw) throw clientError('ENCRYPTED_CONTENT')
  // Not taken apart: for each message that would copy what is left.
  const inner = splitHeaders(message)
  // What is raw may be closed still, and then shows no key.
  if (!raw || inner.key !== undefined) requireKey(message, inner.key)
  const contentType = contentTypes.get(inner.contentType) ?? 'unknown'
  const content = asBytes ? new Uint8Array(inner.content) : decodeContent(inner.content, contentType)
  return {
    streamId,
    partition,
    publisherId,
    messageChainId,
    timestamp,
    sequenceNumber,
    previous,
    keyId: keyIdOf(sealed),
    contentType,
    headers: inner.headers,
    key: inner.key,
    isRemoval: isRemoval(message),
    urgent: urgentFieldsOf(message),
    content: schema === undefined ? content : checkContent(content, schema),
  }
}

/** Says that a message was left out, and why: what a schema throws has no code of its own. */
export function reportUndecodable(
  message: StreamMessage,
  thrown: unknown,
  status: StatusHub,
): UndecodableMessage {
  const error = isRunnelError(thrown)
    ? thrown
    : clientError('CONTENT_MISMATCH', reasonOf(thrown), { cause: thrown })
  const { streamId, partition, publisherId, messageChainId, timestamp, sequenceNumber } = message
  const ref = { timestamp, sequenceNumber }
  const streamPartId = toStreamPartId(streamId, partition)
  const undecodable = {
    ...{ streamPartId, publisherId, messageChainId, ref },
    ...{ keyId: keyIdOf(message), error },
  }
  status.emit({ type: 'undecodable', ...undecodable })
  return undecodable
}

function keyIdOf({ groupKeyId }: StreamMessage): string | undefined {
  return groupKeyId === '' ? undefined : groupKeyId
}

function decodeContent(content: Uint8Array, contentType: Message['contentType']): unknown {
  switch (contentType) {
    case 'json':
      return parseJson(content)
    case 'text':
      return parseText(content)
    default:
      return new Uint8Array(content)
  }
}

/** The parser's own message would quote the content: anybody's text of any length. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    checkDepth(bytes)
    return JSON.parse(decoder.decode(bytes))
  } catch {
    throw clientError('INVALID_JSON_CONTENT', `${bytes.length} bytes`)
  }
}

function parseText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw clientError('INVALID_TEXT_CONTENT', reasonOf(cause))
  }
}
