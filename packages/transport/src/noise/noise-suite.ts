import type { Cipher, Ciphers } from '@runnel/protocol'

/** The primitives that Noise needs from a platform: X25519 beside its ciphers. Keys are 32 bytes. */
export interface NoiseSuite extends Ciphers {
  /** The ciphers it supports; a dialler takes the first. */
  readonly ciphers: readonly [Cipher, ...Cipher[]]
  /** The X25519 public key of a secret one. */
  publicKey(secretKey: Uint8Array): Uint8Array
  /** X25519. Throws on a public key of low order. */
  sharedSecret(secretKey: Uint8Array, publicKey: Uint8Array): Uint8Array
}
