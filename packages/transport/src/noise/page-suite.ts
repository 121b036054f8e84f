import { x25519 } from '@noble/curves/ed25519.js'
import { pageCiphers } from '@runnel/protocol'
import type { NoiseSuite } from './noise-suite.ts'

/** The primitives of Noise in plain JavaScript for pages, where the built-in ones are asynchronous. */
export const pageSuite: NoiseSuite = {
  ...pageCiphers,
  // AES-GCM takes two to four times as long in plain JavaScript.
  ciphers: ['chacha20-poly1305'],
  publicKey: (secretKey) => x25519.getPublicKey(secretKey),
  sharedSecret: (secretKey, publicKey) => x25519.getSharedSecret(secretKey, publicKey),
}
