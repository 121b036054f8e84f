/** What applications give `createClient`, on every platform. */
import type { ClientConfig as CoreConfig, NetworkSource as CoreSource } from './config.ts'

/**
 * Where a network's trackers, streams and permissions are recorded: on a chain, in a document, or in a network file, which pages
 * cannot read.
 */
export type NetworkSource = CoreSource | { readonly kind: 'static'; readonly file: string }

/** The configuration that `createClient` takes. */
export type ClientConfig = CoreConfig<NetworkSource>

/**
 * The configuration with what `read` finds in the network file, where one is named. Anything but a well-formed reference to a file
 * is for the configuration's own check.
 */
export function withDocument(
  config: Pick<ClientConfig, 'network'>,
  read: (file: string) => CoreSource,
): CoreConfig {
  const { network } = config
  const isFile = network?.kind === 'static' && 'file' in network && typeof network.file === 'string'
  return isFile ? { ...config, network: read(network.file) } : (config as CoreConfig)
}
