import { AEAD_ChaCha20Poly1305, KDF_HKDF_SHA256 } from '@panva/hpke-noble'
import { CipherSuite, KEM_MLKEM768_X25519 } from 'hpke'

export const newSuite = (): CipherSuite =>
  new CipherSuite(KEM_MLKEM768_X25519, KDF_HKDF_SHA256, AEAD_ChaCha20Poly1305)
