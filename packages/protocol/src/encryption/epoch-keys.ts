import type { Ciphers } from '../ciphers/ciphers.ts'
import { nodeIdToBytes, type NodeId } from '../ids/node-id.ts'
import { fromBase64Url, toBase64Url } from '../codec/base64url.ts'
import { deriveKey, type KeyUse } from './derive-key.ts'

/** Bytes of every key here. */
export const keyBytes = 32
/** Bytes of a commitment. */
export const commitmentBytes = 32
/** Bytes of a commitment that make the id of an epoch. */
export const epochIdBytes = 6

/** Which epoch a message is sealed in: the group key id of its header, 8 characters. */
export type EpochId = string & { readonly __brand: 'EpochId' }

/** Base64url of 6 bytes: all 48 bits are used. */
const epochIdPattern = /^[A-Za-z0-9_-]{8}$/

const commitmentLabel = new TextEncoder().encode('runnel epoch\0')
const cohortLabel = new TextEncoder().encode('runnel cohort\0')

/** What ties an epoch's key to its id, and tells nothing of the key: a hash. Whoever offers a key is believed when it fits. */
export function commitmentOf(ciphers: Ciphers, epochKey: Uint8Array): Uint8Array {
  return ciphers.sha256(commitmentLabel, epochKey)
}

/** The id of the epoch with this commitment. */
export function epochIdOf(commitment: Uint8Array): EpochId {
  return toBase64Url(commitment.subarray(0, epochIdBytes)) as EpochId
}

/** The epoch that a group key id names; undefined when it names none. */
export function toEpochId(groupKeyId: string): EpochId | undefined {
  return epochIdPattern.test(groupKeyId) ? (groupKeyId as EpochId) : undefined
}

/** The 6 bytes of an id. */
export function bytesOfEpochId(id: EpochId): Uint8Array {
  return fromBase64Url(id) ?? new Uint8Array(epochIdBytes)
}

/** The first 8 bytes of a hash of a cohort's key; all zeros are no cohort's. */
export function cohortIdOf(ciphers: Ciphers, cohortKey: Uint8Array): Uint8Array {
  return ciphers.sha256(cohortLabel, cohortKey).slice(0, 8)
}

/** The key of one publisher in an epoch. From it the epoch's key cannot be found, nor another publisher's. */
export function publisherKeyOf(ciphers: Ciphers, epochKey: Uint8Array, publisherId: NodeId): Uint8Array {
  return deriveKey(ciphers, epochKey, 'publisher', nodeIdToBytes(publisherId))
}

/**
 * Wraps a key under another, or unwraps it, which is the same: the two are combined by XOR with a key derived for this one purpose. There
 * is no tag, because each wrapped key has a commitment. `context` must never be the same for two different keys.
 */
export function wrapKey(
  ciphers: Ciphers,
  under: Uint8Array,
  use: Extract<KeyUse, `wrapped ${string}` | 'own epoch' | 'earlier epoch'>,
  context: Uint8Array,
  key: Uint8Array,
): Uint8Array {
  const pad = deriveKey(ciphers, under, use, context)
  return pad.map((byte, i) => byte ^ (key[i] ?? 0))
}

/** Whether two have the same bytes. How long it takes tells where they differ: not for secrets that others can guess at. */
export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
