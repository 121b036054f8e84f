import { listsNodes, permissionedTrackerRegistry, textOf, type RpcStatus } from '@runnel/contracts'
import { toNodeId, type Clock } from '@runnel/protocol'
import { silentLogger, type Logger } from '../../logger.ts'
import type { Registries, TrackerRegistryReader } from '../ports.ts'
import { compare } from '../order.ts'
import { accountsOnChain, contractsOnChain } from './accounts-on-chain.ts'
import { openAccount, type AccountSource } from './chain-account.ts'
import { ChainChanges } from './chain-changes.ts'
import { openChainConnection, type ChainAddress, type ChainConnection } from './chain-connection.ts'
import { createChainDelegationReader, createChainDelegationWriter } from './chain-delegations.ts'
import { createChainStorageReader, createChainStorageWriter } from './chain-storage.ts'
import { createChainStreamReader } from './chain-stream-reader.ts'
import { createChainStreamWriter } from './chain-stream-writer.ts'
import { readPages } from './read-pages.ts'
import { TransactionSender } from './transaction-sender.ts'

export interface ChainRegistriesOptions extends ChainAddress {
  /** Signs the changes; its account pays for them. */
  readonly account: AccountSource
  /** How often the chain is asked for new events. */
  readonly pollIntervalMs: number
}

/** The registries of a network whose contracts are on a chain. Throws CHAIN_UNREACHABLE, CHAIN_DISPUTED, CHAIN_MISMATCH, REGISTRY_MISSING, or what signers throw when they are asked for their address. */
export async function openChainRegistries(
  options: ChainRegistriesOptions,
  modules: { clock: Clock; logger?: Logger },
): Promise<Registries> {
  const { registries, pollIntervalMs } = options
  const { clock, logger = silentLogger } = modules
  let tell: (status: RpcStatus) => void = () => {}
  const onEndpoint = (status: RpcStatus) => {
    if (status.state === 'ok') logger.info({ ...status }, 'an endpoint of the chain works again')
    else logger.warn({ ...status }, 'an endpoint of the chain failed; others are used instead')
    tell(status)
  }
  const connection = await openChainConnection(options, {
    monotonicMs: () => clock.monotonicMs(),
    onEndpoint,
  })
  const account = await openAccount(options.account, connection).catch((error: unknown) => {
    connection.close()
    throw error
  })
  const sender = new TransactionSender(account.signer, connection)
  const changes = new ChainChanges({ registries, pollIntervalMs }, { connection, clock, logger })
  return {
    chainId: connection.chainId,
    account: account.id,
    accounts: accountsOnChain(connection),
    contracts: contractsOnChain(connection),
    streams: {
      ...createChainStreamReader(registries.streamRegistry, connection),
      ...createChainStreamWriter(registries.streamRegistry, sender, account),
    },
    trackers: trackerReader(registries.trackerRegistry, connection),
    storage: {
      ...createChainStorageReader(registries.storageRegistry, connection),
      ...createChainStorageWriter(registries.storageRegistry, sender, account),
    },
    delegations: {
      ...createChainDelegationReader(registries.streamRegistry, connection),
      ...createChainDelegationWriter(registries.streamRegistry, { connection, sender, account }),
    },
    endpoints: () => connection.endpoints,
    async start({ onChange, onHealth, onEndpoint }) {
      connection.onHealth = onHealth
      tell = onEndpoint ?? tell
      await changes.start(onChange)
    },
    async stop() {
      changes.stop()
      connection.close()
    },
  }
}

/** Listed nodes read at once: they are addresses only. */
const nodesPerPage = 1000

function trackerReader(address: string, connection: ChainConnection): TrackerRegistryReader {
  const contract = permissionedTrackerRegistry(address, connection.provider)
  let isPermissioned: boolean | undefined
  return {
    async listTrackers() {
      const trackers = await readPages(connection, contract.listTrackers)
      return trackers
        .map((entry) => ({ nodeId: toNodeId(entry.tracker), url: textOf(() => entry.url) }))
        .filter(({ url }) => url !== '')
        .sort((a, b) => compare(a.nodeId, b.nodeId))
    },
    async listNodes() {
      // The contract at an address never changes.
      isPermissioned ??= await connection.call(() => listsNodes(address, connection.provider))
      if (!isPermissioned) return undefined
      const nodes = await readPages(connection, contract.listNodes, nodesPerPage)
      return nodes.map(toNodeId).sort(compare)
    },
  }
}
