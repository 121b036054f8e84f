export { createClient, openRegistry } from './create-client.ts'
export type { ClientConfig, NetworkSource } from '../config.ts'
export * from '../common.ts'
export { isRunnelError, RunnelError } from '@runnel/protocol'
