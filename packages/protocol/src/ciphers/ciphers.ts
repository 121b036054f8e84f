/** Authenticated ciphers (AEAD, RFC 5116) that everybody can open; a page seals with the second only. */
export type Cipher = 'aes-256-gcm' | 'chacha20-poly1305'

/** Bytes that sealing adds: the tag of AES-GCM or ChaCha20-Poly1305. */
export const tagBytes = 16

/** What sealing makes. */
export interface Sealed {
  /** As long as the plaintext. */
  readonly ciphertext: Uint8Array
  readonly tag: Uint8Array
}

/** One key of an authenticated cipher. Nonces are 12 bytes and never reused. */
export interface Aead {
  /** Ciphertext followed by tag, in a new array. */
  seal(nonce: Uint8Array, plaintext: Uint8Array, associated: Uint8Array): Uint8Array
  /** The same, without one array for both: that costs a copy of the ciphertext. */
  sealApart(nonce: Uint8Array, plaintext: Uint8Array, associated: Uint8Array): Sealed
  /** Undefined when it is not authentic. */
  open(nonce: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Uint8Array | undefined
}

/** The symmetric cryptography of a platform, synchronous. */
export interface Ciphers {
  /** 32 bytes: the hash of the parts one after the other. */
  sha256(...parts: readonly Uint8Array[]): Uint8Array
  /** 32 bytes: HMAC (RFC 2104) of the parts one after the other. */
  hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array
  /** A key of 32 bytes, ready for use. */
  aead(cipher: Cipher, key: Uint8Array): Aead
}
