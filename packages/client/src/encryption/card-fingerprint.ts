import { nodeIdToBytes, toHex, type CardClaim, type Ciphers } from '@runnel/protocol'
import { u32 } from './reading-key.ts'

const fingerprintBytes = 16

/**
 * Returns a fingerprint for people to compare, for instance by telephone: 32 hexadecimal digits in groups of four, the first
 * half of SHA-256(ascii "runnel card\0" ‖ user id ‖ u32 generation ‖ public key). A card that is signed again for the same key
 * has the same fingerprint.
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
