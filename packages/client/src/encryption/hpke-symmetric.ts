import { ciphers, tagBytes } from '@runnel/protocol'
import type { AEAD, KDF } from 'hpke'

const hashBytes = 32

/** HKDF-SHA256 (RFC 5869) for HPKE, with this platform's ciphers. */
export const hkdfSha256 = (): KDF => ({
  ...{ id: 0x0001, type: 'KDF', name: 'HKDF-SHA256', Nh: hashBytes, stages: 2 },
  Extract: async (salt, key) => ciphers.hmacSha256(salt, key),
  async Expand(key, info, length) {
    if (length > hashBytes) throw new RangeError('HPKE asks for no more than one block with these algorithms')
    return ciphers.hmacSha256(key, info, Uint8Array.of(1)).subarray(0, length)
  },
  Derive: async () => {
    throw new Error('HKDF has two stages')
  },
})

/** ChaCha20-Poly1305 (RFC 8439) for HPKE, with this platform's ciphers. */
export const chaCha20Poly1305 = (): AEAD => ({
  ...{ id: 0x0003, type: 'AEAD', name: 'ChaCha20Poly1305', Nk: 32, Nn: 12, Nt: tagBytes },
  Seal: async (key, nonce, associated, plaintext) =>
    ciphers.aead('chacha20-poly1305', key).seal(nonce, plaintext, associated),
  async Open(key, nonce, associated, sealed) {
    const plaintext = ciphers.aead('chacha20-poly1305', key).open(nonce, sealed, associated)
    if (plaintext === undefined) throw new Error('not authentic')
    // Node's is a Buffer, which not everything takes as equal to the same bytes.
    return new Uint8Array(plaintext)
  },
})
