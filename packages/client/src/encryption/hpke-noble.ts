import { CipherSuite } from 'hpke'
import { chaCha20Poly1305, hkdfSha256 } from './hpke-symmetric.ts'
import { xWingKem } from './x-wing-kem.ts'

// Named imports here, in a module that is loaded as a whole: what of the library nobody uses is left out of a page's bundle.

export const newSuite = (): CipherSuite => new CipherSuite(xWingKem, hkdfSha256, chaCha20Poly1305)

export { publicKeyOf } from './x-wing-kem.ts'
