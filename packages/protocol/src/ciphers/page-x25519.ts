import { x25519 } from '@noble/curves/ed25519.js'
import { x25519Bytes, type X25519, type X25519Pair } from './x25519.ts'

function pairOf(privateKey: Uint8Array): X25519Pair {
  return {
    publicKey: x25519.getPublicKey(privateKey),
    agree(other) {
      if (other.length !== x25519Bytes) return undefined
      try {
        return x25519.getSharedSecret(privateKey, other)
      } catch {
        return undefined
      }
    },
  }
}

/** In plain JavaScript, as that of Web Cryptography is asynchronous, and missing in pages without TLS. */
export const pageX25519: X25519 = { newPair: () => pairOf(x25519.utils.randomSecretKey()), pairOf }
