/** `@runnel/protocol` where there is no Node. */
export * from './common.ts'
export { loadCrypto } from './crypto/load-browser-crypto.ts'
export { pageCiphers as ciphers } from './ciphers/page-ciphers.ts'
