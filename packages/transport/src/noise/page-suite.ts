import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { x25519 } from '@noble/curves/ed25519.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import type { NoiseSuite } from './noise-suite.ts'

/** The primitives of Noise in plain JavaScript for pages, where the built-in ones are asynchronous. */
export const pageSuite: NoiseSuite = {
  // AES-GCM takes two to four times as long in plain JavaScript.
  ciphers: ['chacha20-poly1305'],
  publicKey: (secretKey) => x25519.getPublicKey(secretKey),
  sharedSecret: (secretKey, publicKey) => x25519.getSharedSecret(secretKey, publicKey),
  sha256: (a, b) => sha256.create().update(a).update(b).digest(),
  hmacSha256: (key, data) => hmac(sha256, key, data),
  aead: (_cipher, key) => ({
    seal: (nonce, plaintext, associated) => chacha20poly1305(key, nonce, associated).encrypt(plaintext),
    open(nonce, sealed, associated) {
      try {
        return chacha20poly1305(key, nonce, associated).decrypt(sealed)
      } catch {
        return undefined
      }
    },
  }),
}
