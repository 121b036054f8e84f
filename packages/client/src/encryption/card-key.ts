import { MLKEM768X25519 } from '@noble/post-quantum/hybrid.js'
import { deriveKey, type Ciphers } from '@runnel/protocol'

/** The private key of X-Wing that goes with a reading key: 32 bytes (draft-connolly-cfrg-xwing-kem, section "Key generation"). */
export function cardPrivateKeyOf(ciphers: Ciphers, readingKey: Uint8Array): Uint8Array {
  return deriveKey(ciphers, readingKey, 'card')
}

/** The public key of the card that goes with a reading key. */
export function cardPublicKeyOf(ciphers: Ciphers, readingKey: Uint8Array): Uint8Array {
  return publicKeyOf(cardPrivateKeyOf(ciphers, readingKey))
}

/** The public key of a private key of X-Wing, 1,216 bytes. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return MLKEM768X25519.keygen(privateKey).publicKey
}
