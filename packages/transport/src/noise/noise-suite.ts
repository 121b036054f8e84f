import type { Sealing } from '@runnel/protocol'

/** The ciphers of links whose frames are sealed. */
export type Cipher = Exclude<Sealing, 'none'>

/** Bytes that sealing adds: the tag of AES-GCM or ChaCha20-Poly1305. */
export const tagBytes = 16

/** One key of an authenticated cipher (AEAD, RFC 5116). Nonces are 12 bytes and never reused. */
export interface Aead {
  /** Ciphertext followed by tag, in a new array. */
  seal(nonce: Uint8Array, plaintext: Uint8Array, associated: Uint8Array): Uint8Array
  /** Undefined when it is not authentic. */
  open(nonce: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Uint8Array | undefined
}

/** The primitives that Noise needs from a platform: X25519, SHA-256 and ciphers. Keys are 32 bytes. */
export interface NoiseSuite {
  /** The ciphers it supports; a dialler takes the first. */
  readonly ciphers: readonly [Cipher, ...Cipher[]]
  /** The X25519 public key of a secret one. */
  publicKey(secretKey: Uint8Array): Uint8Array
  /** X25519. Throws on a public key of low order. */
  sharedSecret(secretKey: Uint8Array, publicKey: Uint8Array): Uint8Array
  sha256(a: Uint8Array, b: Uint8Array): Uint8Array
  hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array
  aead(cipher: Cipher, key: Uint8Array): Aead
}
