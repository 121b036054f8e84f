/** The client for Node: it can read files, and its node has the transports of Node. */
import { createNetworkNode } from '@runnel/network'
import { followRegistry, openClient, type ClientModules } from '../client.ts'
import { withDocument, type ClientConfig } from '../given-config.ts'
import type { RegistryService } from '../registry/registry-service.ts'
import type { RunnelClient } from '../runnel-client.ts'
import { clientError } from '../errors.ts'
import { files } from './files.ts'
import { readNetworkFile } from './network-file.ts'

/**
 * Joins a network: checks the configuration, reads the registries and starts a node. Resolves before any tracker is
 * connected. Throws NODE_TOO_OLD, INVALID_CONFIG, INVALID_KEY, CHAIN_UNREACHABLE, CHAIN_MISMATCH, REGISTRY_MISSING, a NETWORK_FILE_…
 * code, or an error of listening (PORT_IN_USE). If it throws, nothing is left running.
 */
export async function createClient(
  config: ClientConfig,
  modules: Partial<ClientModules> = {},
): Promise<RunnelClient> {
  requireNode(process.versions.node)
  return openClient(withDocument(config, readNetworkFile), {
    createNode: (options, nodeModules) => createNetworkNode({ ...options, role: 'client' }, nodeModules),
    files,
    ...modules,
  })
}

/**
 * Follows a network's registries without taking part in the network, as a tracker does; `stop` ends it. Throws
 * INVALID_CONFIG, CHAIN_UNREACHABLE, CHAIN_MISMATCH, REGISTRY_MISSING or a NETWORK_FILE_… code. If it throws, nothing
 * is left running.
 */
export async function openRegistry(
  config: Pick<ClientConfig, 'network' | 'registry'>,
  modules: Omit<ClientModules, 'createNode'> = {},
): Promise<RegistryService> {
  return followRegistry(withDocument(config, readNetworkFile), { files, ...modules })
}

/** What is missing in an older one would be told as a fault of the chain, or of nothing. Throws NODE_TOO_OLD. */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 13)) throw clientError('NODE_TOO_OLD', version)
}
