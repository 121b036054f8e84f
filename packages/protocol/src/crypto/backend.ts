/** True when the key that it was prepared for made the signature: 65 bytes with low s and v in {0, 1}, v included. May throw. */
export type CheckSignature = (digest: Uint8Array, signature: Uint8Array) => boolean

/** Signs and recovers with one library. What is common to all is in `create-crypto.ts`. */
export interface CurveBackend {
  readonly name: 'native' | 'wasm' | 'js'
  /** 65 bytes, r ‖ s ‖ v, low s, deterministic (RFC 6979). Throws on a key that is none. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Uint8Array
  /** The 65-byte uncompressed public key, or undefined; it may throw instead. The signature is 65 bytes with low s and v in {0, 1}. */
  recover(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined
  /** A check for one public key that is quicker than recovering it; absent where recovering is quick. */
  prepareCheck?(publicKey: Uint8Array): CheckSignature
  /** The 65-byte uncompressed public key. Throws on a key that is none. */
  publicKeyOf(privateKey: Uint8Array): Uint8Array
}

/** r ‖ s ‖ v. */
export function joinSignature(rs: Uint8Array, v: number): Uint8Array {
  const signature = new Uint8Array(65)
  signature.set(rs)
  signature[64] = v
  return signature
}
