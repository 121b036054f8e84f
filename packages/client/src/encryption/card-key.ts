import { deriveKey, type Ciphers } from '@runnel/protocol'

/** The private key of X-Wing that goes with a reading key: a seed of 32 bytes. */
export function cardPrivateKeyOf(ciphers: Ciphers, readingKey: Uint8Array): Uint8Array {
  return deriveKey(ciphers, readingKey, 'card')
}

/** The public key of the card that goes with a reading key. */
export function cardPublicKeyOf(ciphers: Ciphers, readingKey: Uint8Array): Promise<Uint8Array> {
  return publicKeyOf(cardPrivateKeyOf(ciphers, readingKey))
}

/** The public key of X-Wing, 1,216 bytes, to a private key (draft-connolly-cfrg-xwing-kem, section "Key generation"). Its code is loaded when it is used. */
export async function publicKeyOf(privateKey: Uint8Array): Promise<Uint8Array> {
  const { XWing } = await import('@noble/post-quantum/hybrid.js')
  return XWing.keygen(privateKey).publicKey
}
