import type { Archive, NetworkLimits, NetworkNode, PublisherPolicy, TrackerDirectory } from '@runnel/network'
import {
  createIdentity,
  generatePrivateKey,
  guardedClock,
  loadCrypto,
  parsePrivateKey,
  toHex,
  type Clock,
  type Crypto,
  type Identity,
  type NodeAdmission,
  type Random,
  type ReaderPolicy,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { parseConfig, type ClientConfig, type ParsedClientConfig, type ParsedTransports } from './config.ts'
import type { ContentStep } from './content/content-step.ts'
import { Faults } from './faults.ts'
import type { Signer } from './identity/signer.ts'
import { silentLogger, type Logger } from './logger.ts'
import { Phases } from './phases.ts'
import { LateArchive } from './resend/archive.ts'
import type { AccountSource } from './registry/chain/chain-account.ts'
import { RegistryService } from './registry/registry-service.ts'
import { createStaticRegistries } from './registry/static-registries.ts'
import { RunnelClient } from './runnel-client.ts'
import type { Eip1193Provider } from './wallet.ts'

/** The parts of a node other than its configuration. */
export interface NodeModules {
  readonly identity: Identity
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly publisherPolicy: PublisherPolicy
  /** Decides who may be a neighbour. */
  readonly readerPolicy: ReaderPolicy
  readonly trackers: TrackerDirectory
  /** Decides which peers may be linked with; in a private network the node's own id must be listed, too. */
  readonly admission: NodeAdmission & { readonly isPrivate: boolean }
  /** Gaps that neighbours cannot fill are filled from storage nodes. */
  readonly archive: Archive
}

/** Makes the node a client embeds. */
export type CreateNode = (
  options: { transports: ParsedTransports; limits: Pick<NetworkLimits, 'maxLiveAgeMs'> },
  modules: NodeModules,
) => NetworkNode

/** What a client stands on; everything but the node has a default. */
export interface ClientModules {
  readonly createNode: CreateNode
  /** Where log lines go. Default: nowhere; everything that is logged is also a status. */
  readonly logger?: Logger | undefined
  /** Signs and pays for changes of the registries, in place of the client's own key; its user is asked for each. */
  readonly wallet?: Eip1193Provider | Signer | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  /**
   * What is done to content between the application and the wire: messages pass these in order when they are published,
   * after compression, and backwards when they are delivered. Default: none.
   */
  readonly contentSteps?: readonly ContentStep[] | undefined
}

/** Reads the network's registries, starts a node, and gives the client that uses both. Nothing is left running when it throws. */
export async function openClient(config: ClientConfig, modules: ClientModules): Promise<RunnelClient> {
  const parsed = parseConfig(config)
  const { random = systemRandom, logger = silentLogger, createNode } = modules
  const faults = new Faults({ logger })
  // The node has one of its own, as its faults reach others.
  const ownClock = modules.clock ?? systemClock
  const clock = guardedClock(ownClock, (error) => faults.report({ error }))
  const phases = new Phases(clock)
  const crypto = await loadCrypto()
  const privateKey =
    parsed.privateKey === undefined ? generatePrivateKey(random) : parsePrivateKey(parsed.privateKey)
  const identity = createIdentity(privateKey, crypto)
  const registry = await startRegistry(parsed, modules.wallet ?? toHex(privateKey), { clock, logger })
  phases.reach('registry')
  let node: NetworkNode | undefined
  try {
    const { publisherPolicy, readerPolicy, directory: trackers, admission } = registry
    const { transports, maxLiveAgeMs } = parsed
    const archive = new LateArchive()
    node = createNode(
      { transports, limits: { maxLiveAgeMs } },
      {
        ...{ identity, crypto, clock: ownClock, random, publisherPolicy, readerPolicy },
        ...{ trackers, admission, archive },
      },
    )
    const client = new RunnelClient(parsed, {
      identity,
      crypto,
      clock,
      random,
      logger,
      faults,
      node,
      registry,
      archive,
      phases,
      contentSteps: modules.contentSteps ?? [],
    })
    await node.start()
    return client
  } catch (error) {
    await node?.stop()
    await registry.stop()
    throw error
  }
}

/** Reads the network's registries, and follows them. Nothing is left running when it throws. */
export async function followRegistry(
  config: ClientConfig,
  { clock = systemClock, random = systemRandom, logger = silentLogger }: Omit<ClientModules, 'createNode'>,
): Promise<RegistryService> {
  return startRegistry(parseConfig(config), toHex(generatePrivateKey(random)), { clock, logger })
}

async function startRegistry(
  parsed: ParsedClientConfig,
  account: AccountSource,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<RegistryService> {
  const registries = await openRegistries(parsed, account, clock)
  const registry = new RegistryService(parsed.registry, { registries, clock, logger })
  try {
    await registry.start()
    return registry
  } catch (error) {
    await registry.stop()
    throw error
  }
}

async function openRegistries(
  { network, registry }: ParsedClientConfig,
  account: AccountSource,
  clock: Clock,
) {
  if (network.kind === 'static') return createStaticRegistries(network.document)
  const { rpcUrl, chainId, registries } = network
  // Loaded when it is used: ethers is larger than all the rest.
  const { openChainRegistries } = await import('./registry/chain/chain-registries.ts')
  return openChainRegistries(
    { rpcUrl, chainId, registries, account, pollIntervalMs: registry.pollIntervalMs },
    { clock },
  )
}
