import {
  deployRegistries,
  permissionedTrackerRegistry,
  storageRegistry,
  streamRegistry,
  trackerRegistry,
  type PermissionedTrackerRegistry,
  type RegistryAddresses,
  type StorageRegistry,
  type StreamRegistry,
  type TrackerRegistry,
} from '@runnel/contracts'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import { toNodeId, type NodeId } from '@runnel/protocol'
import { JsonRpcProvider, Wallet, type ContractTransactionResponse } from 'ethers'

/** An account of the test chain with money. */
interface TestAccount {
  readonly nodeId: NodeId
  readonly privateKey: string
  readonly wallet: Wallet
}

/** A real chain with registries on it, for tests. */
export interface TestChain {
  readonly url: string
  readonly registries: RegistryAddresses
  readonly provider: JsonRpcProvider
  readonly accounts: readonly [TestAccount, TestAccount, TestAccount]
  /** The contracts, in the name of the first account. */
  readonly trackers: TrackerRegistry
  /** The same contract, where the chain was started with a private network. */
  readonly nodes: Pick<PermissionedTrackerRegistry, 'allowNodes' | 'removeNodes'>
  readonly streams: StreamRegistry
  readonly storage: StorageRegistry
  stop(): Promise<void>
}

export async function startTestChain(
  options: { port?: number; permissioned?: boolean } = {},
): Promise<TestChain> {
  const anvil = await startAnvil(options)
  const provider = new JsonRpcProvider(anvil.url, 31337, {
    staticNetwork: true,
    pollingInterval: 20,
    cacheTimeout: -1,
  })
  const [first, second, third] = anvil.privateKeys.map((privateKey) => account(privateKey, provider))
  if (!first || !second || !third) throw new Error('The chain has too few accounts')
  const registries = await deployRegistries(first.wallet, { permissioned: options.permissioned })
  return {
    url: anvil.url,
    registries,
    provider,
    accounts: [first, second, third],
    trackers: trackerRegistry(registries.trackerRegistry, first.wallet),
    nodes: permissionedTrackerRegistry(registries.trackerRegistry, first.wallet),
    streams: streamRegistry(registries.streamRegistry, first.wallet),
    storage: storageRegistry(registries.storageRegistry, first.wallet),
    stop: () => stop(anvil, provider),
  }
}

async function stop(anvil: Anvil, provider: JsonRpcProvider): Promise<void> {
  provider.destroy()
  await anvil.stop()
}

function account(privateKey: string, provider: JsonRpcProvider): TestAccount {
  const wallet = new Wallet(privateKey, provider)
  return { nodeId: toNodeId(wallet.address), privateKey, wallet }
}

/** Sends a transaction and waits until it is mined. */
export async function mined(sending: Promise<ContractTransactionResponse>): Promise<void> {
  await (await sending).wait()
}
