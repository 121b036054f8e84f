import type { Ciphers } from '../ciphers/ciphers.ts'
import { toHex } from '../codec/hex.ts'
import type { StreamId } from '../ids/stream-id.ts'
import type { StreamMessage } from './stream-message.ts'

/** The extension that says which key of its stream a message is the value of: `keyTagBytes` bytes; of another length it says nothing. */
export const keyTagExtension = 1
export const keyTagBytes = 16
/** The extension, without bytes, that says that the key of a message has no value from here on. */
export const removalExtension = 2

const encoder = new TextEncoder()

/**
 * Stands for a key wherever the content is not read: the first 16 bytes of SHA-256 of ascii "runnel message key" ‖ 0x00 ‖ the stream's id ‖
 * 0x00 ‖ the key's UTF-8. Whoever can guess the key can compute it.
 */
export function keyTagOf(ciphers: Ciphers, streamId: StreamId, key: string): Uint8Array {
  return ciphers.sha256(encoder.encode(`runnel message key\0${streamId}\0${key}`)).slice(0, keyTagBytes)
}

/** The key tag of a message; undefined when it has none. */
export function keyTagIn({ extensions }: Pick<StreamMessage, 'extensions'>): Uint8Array | undefined {
  const found = extensions?.find(({ type }) => type === keyTagExtension)
  return found?.bytes.length === keyTagBytes ? found.bytes : undefined
}

/** The same as hexadecimal digits, for maps and stores; empty when it has none. */
export function keyTagText(message: Pick<StreamMessage, 'extensions'>): string {
  const tag = keyTagIn(message)
  return tag === undefined ? '' : toHex(tag)
}

/** Whether a message takes the value of its key away. */
export function isRemoval({ extensions }: Pick<StreamMessage, 'extensions'>): boolean {
  return extensions?.some(({ type }) => type === removalExtension) === true
}
