import {
  ciphers,
  isSameBytes,
  keyTagIn,
  keyTagOf,
  limits,
  type StreamId,
  type StreamMessage,
} from '@runnel/protocol'
import { clientError } from '../errors.ts'

const encoder = new TextEncoder()

/** A key that messages may have. Throws INVALID_MESSAGE_KEY. */
export function checkedKey(key: unknown): string {
  if (typeof key !== 'string') throw clientError('INVALID_MESSAGE_KEY', `a key of type ${typeof key}`)
  const { length } = encoder.encode(key)
  if (length === 0 || length > limits.maxMessageKeyBytes)
    throw clientError(
      'INVALID_MESSAGE_KEY',
      `${length} bytes, and it may have 1 to ${limits.maxMessageKeyBytes}`,
    )
  if (!key.isWellFormed()) throw clientError('INVALID_MESSAGE_KEY', 'it has half a character')
  return key
}

/** What stands for a key where content is not read. Throws INVALID_MESSAGE_KEY. */
export function tagOfKey(streamId: StreamId, key: string): Uint8Array {
  return keyTagOf(ciphers, streamId, checkedKey(key))
}

/** Throws MESSAGE_KEY_MISMATCH unless a message that could be opened has this key beside its content, or neither has one. */
export function requireKey(
  message: Pick<StreamMessage, 'streamId' | 'extensions'>,
  key: string | undefined,
): void {
  const tag = keyTagIn(message)
  if (key === undefined && tag === undefined) return
  if (key === undefined || tag === undefined)
    throw clientError('MESSAGE_KEY_MISMATCH', tag === undefined ? 'no tag of the key' : 'no key of the tag')
  if (!isSameBytes(tag, keyTagOf(ciphers, message.streamId, key)))
    throw clientError('MESSAGE_KEY_MISMATCH', JSON.stringify(key.slice(0, 40)))
}
