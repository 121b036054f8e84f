/** `@runnel/protocol` where there is no Node. */
import type { X25519 } from './ciphers/x25519.ts'

export * from './common.ts'
export { loadCrypto } from './crypto/load-browser-crypto.ts'
export { pageCiphers as ciphers } from './ciphers/page-ciphers.ts'
export const loadX25519 = (): Promise<X25519> =>
  import('./ciphers/page-x25519.ts').then(({ pageX25519 }) => pageX25519)
export { openVerification } from './verification/page-verification.ts'
