import type { Ciphers } from '../ciphers/ciphers.ts'
import { toBase64Url } from '../codec/base64url.ts'
import { nodeIdToBytes, type NodeId } from '../ids/node-id.ts'
import { epochIdOf, type EpochId } from './epoch-keys.ts'

/**
 * The message chain of each record of a key part says what it is, so that the last message of (publisher, chain) is the way to find it. The
 * first letter is the kind.
 */
export const newestChain = 'n'
export const requestChain = 'r'

const encoder = new TextEncoder()

/** The first bytes of a hash of text and parts. */
const hashOf = (ciphers: Ciphers, use: string, length: number, ...parts: readonly Uint8Array[]): Uint8Array =>
  ciphers.sha256(encoder.encode(`runnel ${use}\0`), ...parts).slice(0, length)

export const epochChain = (epochId: EpochId): string => `e${epochId}`

export const cohortChain = (cohortId: Uint8Array): string => `c${toBase64Url(cohortId)}`

/** The link from a keyring to a reader: there are many, so it is short. */
export function linkChain(ciphers: Ciphers, keyringId: Uint8Array, readerId: NodeId): string {
  return `l${toBase64Url(hashOf(ciphers, 'link of', 12, keyringId, nodeIdToBytes(readerId)))}`
}

/** The answers to a reader. */
export function answerChain(ciphers: Ciphers, readerId: NodeId): string {
  return `a${toBase64Url(hashOf(ciphers, 'answer to', 16, nodeIdToBytes(readerId)))}`
}

/** One of the records with the keys of publishers in an epoch. */
export function publishersChain(commitment: Uint8Array, number: number): string {
  return `w${epochIdOf(commitment)}${number.toString(16).padStart(4, '0')}`
}

/** How a reader knows links that may be for it: 4 bytes. Two may have the same. */
export function readerHint(ciphers: Ciphers, readerId: NodeId): Uint8Array {
  return hashOf(ciphers, 'link to', 4, nodeIdToBytes(readerId))
}

/** How a reader with this card finds what is wrapped for it: 4 bytes. Two may have the same. */
export function readerTag(ciphers: Ciphers, readerId: NodeId, cardHash: Uint8Array): Uint8Array {
  return hashOf(ciphers, 'tag of', 4, nodeIdToBytes(readerId), cardHash)
}

/**
 * How a publisher that may not read knows its key among those of its record: nothing else tells whether what it unwrapped is a key. Nobody
 * can choose to have the tag of another.
 */
export function publisherTag(ciphers: Ciphers, publisherId: NodeId, publisherKey: Uint8Array): Uint8Array {
  return hashOf(ciphers, 'tag of key', 4, nodeIdToBytes(publisherId), publisherKey)
}

/** In which of `count` groups a user is; `count` is a power of two, at most 65,536. */
export function groupOf(ciphers: Ciphers, userId: NodeId, count: number): number {
  const [high = 0, low = 0] = hashOf(ciphers, 'group of', 2, nodeIdToBytes(userId))
  return Math.floor((((high << 8) | low) * count) / 65_536)
}
