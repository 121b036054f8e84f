/** `@runnel/protocol` where there is no Node. */
export * from './common.ts'
export { loadCrypto } from './crypto/load-browser-crypto.ts'
