import { CipherSuite, KEM_MLKEM768_X25519 } from 'hpke'
import { chaCha20Poly1305, hkdfSha256 } from './hpke-symmetric.ts'

export const newSuite = (): CipherSuite => new CipherSuite(KEM_MLKEM768_X25519, hkdfSha256, chaCha20Poly1305)
