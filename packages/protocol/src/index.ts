export * from './common.ts'
export * from './crypto/load-crypto.ts'
