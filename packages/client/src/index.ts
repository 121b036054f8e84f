export { createClient, openRegistry, type ClientConfig, type NetworkSource } from './node/create-client.ts'
export { readNetworkFile } from './node/network-file.ts'
export { readKeyFile, writeKeyFile } from './node/key-file.ts'
export * from './common.ts'
