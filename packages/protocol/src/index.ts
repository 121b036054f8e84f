export * from './common.ts'
export * from './crypto/load-crypto.ts'
export { nodeCiphers, nodeCiphers as ciphers } from './ciphers/node-ciphers.ts'
export { loadX25519 } from './ciphers/node-x25519.ts'
