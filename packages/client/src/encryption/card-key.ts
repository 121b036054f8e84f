import { MLKEM768X25519 } from '@noble/post-quantum/hybrid.js'
import { deriveKey, nodeIdToBytes, toHex, type CardClaim, type Ciphers } from '@runnel/protocol'
import { u32 } from './reading-key.ts'

/** The private key of X-Wing that goes with a reading key: 32 bytes (draft-connolly-cfrg-xwing-kem, section "Key generation"). */
export function cardPrivateKeyOf(ciphers: Ciphers, readingKey: Uint8Array): Uint8Array {
  return deriveKey(ciphers, readingKey, 'card')
}

/** The public key of the card that goes with a reading key, 1,216 bytes. */
export function cardPublicKeyOf(ciphers: Ciphers, readingKey: Uint8Array): Uint8Array {
  return MLKEM768X25519.keygen(cardPrivateKeyOf(ciphers, readingKey)).publicKey
}

const fingerprintBytes = 16

/**
 * For people to compare, over a telephone for instance: 32 hexadecimal digits in groups of four, the first half of SHA-256(ascii
 * "runnel card\0" ‖ user id ‖ u32 generation ‖ public key). A card that is signed again for the same key has the same.
 */
export function cardFingerprint(
  { sha256 }: Ciphers,
  { userId, generation, publicKey }: Pick<CardClaim, 'userId' | 'generation' | 'publicKey'>,
): string {
  const hash = sha256(
    new TextEncoder().encode('runnel card\0'),
    nodeIdToBytes(userId),
    u32(generation),
    publicKey,
  )
  const digits = toHex(hash.subarray(0, fingerprintBytes)).slice(2)
  return digits.match(/.{4}/g)?.join(' ') ?? ''
}
