import { readNetworkFile } from '@runnel/client'
import { nodeError } from '../errors.ts'

/** What a network file describes. */
export type DescribedNetwork = ReturnType<typeof readNetworkFile>

/** The network a file describes; the file is the one named, else RUNNEL_NETWORK. Throws NETWORK_NOT_CONFIGURED, or what is wrong with the file. */
export function readNetwork(file: string | undefined, env = process.env): DescribedNetwork {
  const path = file ?? env['RUNNEL_NETWORK']
  if (path === undefined || path === '') throw nodeError('NETWORK_NOT_CONFIGURED')
  return readNetworkFile(path)
}

/** The network's chain. Throws also CHAIN_NOT_CONFIGURED when it has none. */
export function readChain(file: string | undefined): Extract<DescribedNetwork, { kind: 'chain' }> {
  const source = readNetwork(file)
  if (source.kind !== 'chain') throw nodeError('CHAIN_NOT_CONFIGURED', 'its registries are a document')
  return source
}
