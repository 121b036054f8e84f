import type { Ciphers } from '../ciphers/ciphers.ts'
import { toBase64Url } from '../codec/base64url.ts'
import type { StreamId } from '../ids/stream-id.ts'
import { sideChains } from '../messages/side-chains.ts'
import type { MessageChain } from '../messages/stream-message.ts'

/** Bytes that stand for a reader's name in its stream. */
export const readerIdBytes = 16
/** Bytes that stand for a message chain in a cursor: nobody finds a chain with the bytes of another. */
export const chainTagBytes = 12

const encoder = new TextEncoder()

/**
 * Stands for the name of a reader: the first 16 bytes of SHA-256 of ascii "runnel reader" ‖ 0x00 ‖ the stream's id ‖ 0x00 ‖ the name's UTF-8.
 * Whoever can guess the name can compute it.
 */
export function readerIdOf(ciphers: Ciphers, streamId: StreamId, name: string): Uint8Array {
  return ciphers.sha256(encoder.encode(`runnel reader\0${streamId}\0${name}`)).slice(0, readerIdBytes)
}

/** The chain of the key part in which the member of a reader that has a slot keeps its cursor. Slots are 0 to 15. */
export function cursorChain(readerId: Uint8Array, slot: number): string {
  return `${cursorPrefix(readerId)}${slot.toString(16)}`
}

/** What the chains of all slots of a reader begin with. */
export function cursorPrefix(readerId: Uint8Array): string {
  return `${sideChains.cursor}c${toBase64Url(readerId)}`
}

/**
 * Stands for a message chain of a stream: base64url of the first 12 bytes of SHA-256 of ascii "runnel chain" ‖ 0x00 ‖ the partition in decimal
 * ‖ 0x00 ‖ the publisher's id, 0x and lower case ‖ 0x00 ‖ the chain's id.
 */
export function chainTagOf(
  ciphers: Ciphers,
  { partition, publisherId, messageChainId }: Omit<MessageChain, 'streamId'>,
): string {
  const text = `runnel chain\0${partition}\0${publisherId}\0${messageChainId}`
  return toBase64Url(ciphers.sha256(encoder.encode(text)).slice(0, chainTagBytes))
}
