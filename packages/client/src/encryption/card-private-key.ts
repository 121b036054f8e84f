import { deriveKey, type Ciphers } from '@runnel/protocol'

/** The private key of X-Wing that goes with a reading key: 32 bytes (draft-connolly-cfrg-xwing-kem, section "Key generation"). */
export function cardPrivateKeyOf(ciphers: Ciphers, readingKey: Uint8Array): Uint8Array {
  return deriveKey(ciphers, readingKey, 'card')
}
