import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { tagBytes, type Ciphers } from './ciphers.ts'

/** Ciphers in plain JavaScript for pages, where the built-in ones are asynchronous: ChaCha20-Poly1305 only. */
export const pageCiphers: Ciphers = {
  sha256(...parts) {
    const hash = sha256.create()
    for (const part of parts) hash.update(part)
    return hash.digest()
  },
  hmacSha256(key, ...parts) {
    const mac = hmac.create(sha256, key)
    for (const part of parts) mac.update(part)
    return mac.digest()
  },
  aead: (_cipher, key) => ({
    seal: (nonce, plaintext, associated) => chacha20poly1305(key, nonce, associated).encrypt(plaintext),
    sealApart(nonce, plaintext, associated) {
      const sealed = this.seal(nonce, plaintext, associated)
      const end = sealed.length - tagBytes
      return { ciphertext: sealed.subarray(0, end), tag: sealed.subarray(end) }
    },
    open(nonce, sealed, associated) {
      try {
        return chacha20poly1305(key, nonce, associated).decrypt(sealed)
      } catch {
        return undefined
      }
    },
  }),
}
