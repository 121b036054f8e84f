import { deriveKey, type Ciphers } from '@runnel/protocol'
import { publicKeyOf } from './hpke.ts'

/** The private key of X-Wing that goes with a reading key: a seed of 32 bytes. */
export function cardPrivateKeyOf(ciphers: Ciphers, readingKey: Uint8Array): Uint8Array {
  return deriveKey(ciphers, readingKey, 'card')
}

/** The public key of the card that goes with a reading key. */
export function cardPublicKeyOf(ciphers: Ciphers, readingKey: Uint8Array): Promise<Uint8Array> {
  return publicKeyOf(cardPrivateKeyOf(ciphers, readingKey))
}
