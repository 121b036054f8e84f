import { keccak_256 } from '@noble/hashes/sha3.js'

/** Keccak-256 in plain JavaScript, which runs everywhere, and is slower than WebAssembly. */
export function jsKeccak256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = keccak_256.create()
  for (const part of parts) hash.update(part)
  return hash.digest()
}
