import { isError, JsonRpcProvider, Result, Wallet, type TransactionResponse, type Interface } from 'ethers'
import { afterAll, afterEach, beforeAll, vi } from 'vitest'
import { startAnvil, type Anvil } from './anvil.ts'
import { decodeRegistryError, type RegistryError } from './decode-error.ts'
import { deployRegistries } from './deploy.ts'
import {
  storageRegistry,
  streamRegistry,
  trackerRegistry,
  type StorageRegistry,
  type StreamRegistry,
  type TrackerRegistry,
} from './registries.ts'

/** A real chain with registries on it. */
export interface TestChain {
  readonly url: string
  readonly provider: JsonRpcProvider
  /** Deployed the registries, and is their runner. */
  readonly owner: Wallet
  readonly alice: Wallet
  readonly bob: Wallet
  readonly trackers: TrackerRegistry
  readonly streams: StreamRegistry
  readonly storage: StorageRegistry
}

/** How long a test on a chain may take on a machine that is busy. */
export const chainTimeoutMs = 60_000

/** One chain with registries for the tests of a file, each of which finds it untouched. Returns how a test gets at it. */
export function useChain(): () => TestChain {
  vi.setConfig({ testTimeout: chainTimeoutMs, hookTimeout: chainTimeoutMs })
  let anvil: Anvil | undefined
  let chain: TestChain | undefined
  let snapshot: unknown

  beforeAll(async () => {
    anvil = await startAnvil()
    chain = await deployTestChain(anvil)
    snapshot = await chain.provider.send('evm_snapshot', [])
  })
  afterEach(async () => {
    await chain?.provider.send('evm_revert', [snapshot])
    snapshot = await chain?.provider.send('evm_snapshot', [])
  })
  afterAll(async () => {
    chain?.provider.destroy()
    await anvil?.stop()
  })
  return () => {
    if (!chain) throw new Error('The chain is there within a test only')
    return chain
  }
}

/** A provider that neither caches nor waits long between polls. */
export function connect(url: string): JsonRpcProvider {
  return new JsonRpcProvider(url, 31337, { staticNetwork: true, pollingInterval: 20, cacheTimeout: -1 })
}

async function deployTestChain({ url, privateKeys }: Anvil): Promise<TestChain> {
  const provider = connect(url)
  const [owner, alice, bob] = privateKeys.map((key) => new Wallet(key, provider))
  if (!owner || !alice || !bob) throw new Error('The chain has too few accounts')
  const addresses = await deployRegistries(owner)
  return {
    url,
    provider,
    owner,
    alice,
    bob,
    trackers: trackerRegistry(addresses.trackerRegistry, owner),
    streams: streamRegistry(addresses.streamRegistry, owner),
    storage: storageRegistry(addresses.storageRegistry, owner),
  }
}

/** Sends a transaction, waits until it is mined, and returns the events of the contract it went to. */
export async function eventsOf(
  contract: { readonly interface: Interface; readonly target: unknown },
  sending: Promise<TransactionResponse>,
): Promise<{ name: string; args: unknown }[]> {
  const receipt = await (await sending).wait()
  const logs = receipt?.logs.filter((log) => log.address === contract.target) ?? []
  return logs.map((log) => {
    const event = contract.interface.parseLog(log)
    if (!event) throw new Error(`An event not in the ABI: ${log.topics[0]}`)
    return { name: event.name, args: plain(event.args) }
  })
}

/** Sends a transaction and waits until it is mined. */
export async function mined(sending: Promise<TransactionResponse>): Promise<void> {
  await (await sending).wait()
}

/** The registry's error a call reverts with; throws when it does not revert, or with anything else. */
export async function revertOf(call: Promise<unknown>): Promise<RegistryError> {
  const error: unknown = await call.then(
    () => new Error('The call did not revert'),
    (reason: unknown) => reason,
  )
  const decoded = decodeRegistryError(error)
  if (!decoded) throw error
  return decoded
}

/** What ethers decoded, as plain objects and arrays that can be compared. */
export function plain(value: unknown): unknown {
  if (!(value instanceof Result)) return value
  const fields = namedFields(value)
  if (fields.length === 0) return value.toArray().map(plain)
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]))
}

/** Those of a struct; none of an array, whose items ethers calls `_`, and refuses to name where there are several. */
function namedFields(value: Result): [string, unknown][] {
  try {
    return Object.entries(value.toObject()).filter(([name]) => name !== '_')
  } catch (error) {
    if (isError(error, 'UNSUPPORTED_OPERATION')) return []
    throw error
  }
}
