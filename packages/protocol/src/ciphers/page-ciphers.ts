import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { ChaCha20Poly1305 } from '@stablelib/chacha20poly1305'
import { tagBytes, type Aead, type Ciphers, type Sealed } from './ciphers.ts'

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
  aead: (_cipher, key) => new PageAead(key),
}

class PageAead implements Aead {
  readonly #aead: ChaCha20Poly1305

  constructor(key: Uint8Array) {
    this.#aead = new ChaCha20Poly1305(key)
  }

  seal(nonce: Uint8Array, plaintext: Uint8Array, associated: Uint8Array): Uint8Array {
    return this.#aead.seal(nonce, plaintext, associated)
  }

  sealApart(nonce: Uint8Array, plaintext: Uint8Array, associated: Uint8Array): Sealed {
    const sealed = this.seal(nonce, plaintext, associated)
    const end = sealed.length - tagBytes
    return { ciphertext: sealed.subarray(0, end), tag: sealed.subarray(end) }
  }

  open(nonce: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Uint8Array | undefined {
    return this.#aead.open(nonce, sealed, associated) ?? undefined
  }
}
