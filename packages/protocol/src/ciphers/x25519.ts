/** Bytes of a private key, a public key, and what two agree on. */
export const x25519Bytes = 32

/** A key pair of X25519. */
export interface X25519Pair {
  readonly publicKey: Uint8Array
  /** Undefined where `publicKey` is none: of another length, or a point of low order. */
  agree(publicKey: Uint8Array): Uint8Array | undefined
}

/** The key agreement X25519 (RFC 7748) of a platform, synchronous. */
export interface X25519 {
  newPair(): X25519Pair
  pairOf(privateKey: Uint8Array): X25519Pair
}
