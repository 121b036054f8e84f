import type { Crypto } from '../ports.ts'

const prefix = new TextEncoder().encode('\x19Ethereum Signed Message:\n32')

/**
 * What an Ethereum wallet signs when asked to sign 32 bytes as a personal message (EIP-191, version 0x45).
 * Everything a Runnel key signs goes through here, so that no signature of ours is one of a transaction.
 */
export function ethereumMessageDigest(hash: Uint8Array, crypto: Crypto): Uint8Array {
  return crypto.keccak256(prefix, hash)
}
