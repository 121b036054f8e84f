import { MLKEM768X25519 } from '@noble/post-quantum/hybrid.js'
import { AEAD_ChaCha20Poly1305, KDF_HKDF_SHA256, KEM_MLKEM768_X25519 } from '@panva/hpke-noble'
import { CipherSuite } from 'hpke'

// Named imports here, in a module that is loaded as a whole: what of these libraries nobody uses is left out of a page's bundle.

export const newSuite = (): CipherSuite =>
  new CipherSuite(KEM_MLKEM768_X25519, KDF_HKDF_SHA256, AEAD_ChaCha20Poly1305)

/** The public key of X-Wing, 1,216 bytes, to a private key: a seed of 32 bytes. */
export const publicKeyOf = (privateKey: Uint8Array): Uint8Array => MLKEM768X25519.keygen(privateKey).publicKey
