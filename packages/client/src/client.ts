import type {
  Archive,
  HostsOptions,
  LightOptions,
  NetworkLimits,
  NetworkNode,
  NetworkNodeOptions,
  PublisherPolicy,
  TrackerDirectory,
} from '@runnel/network'
import {
  ciphers,
  createIdentity,
  generatePrivateKey,
  guardedClock,
  loadCrypto,
  openVerification,
  parsePrivateKey,
  toHex,
  toNodeId,
  type Clock,
  type Crypto,
  type Identity,
  type NodeAdmission,
  type Random,
  type ReaderPolicy,
  type VerificationPool,
} from '@runnel/protocol'
import type { Acting } from '@runnel/transport'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import {
  defaultHostsAtOnce,
  parseConfig,
  type ClientConfig,
  type ParsedClientConfig,
  type ParsedTransports,
} from './config.ts'
import type { ContentStep } from './content/content-step.ts'
import type { Cards } from './encryption/ports.ts'
import { Faults } from './faults.ts'
import { openActingUser } from './identity/open-acting-user.ts'
import type { ActingUser } from './identity/acting-user.ts'
import { memoryStore, type SessionStore } from './identity/session-store.ts'
import { walletSigner } from './identity/wallet-signer.ts'
import type { Signer } from './identity/signer.ts'
import { silentLogger, type Logger } from './logger.ts'
import { Phases } from './phases.ts'
import { LateArchive } from './resend/archive.ts'
import type { Files } from './registry/document/document-source.ts'
import { createStaticRegistries } from './registry/static-registries.ts'
import type { AccountSource } from './registry/chain/chain-account.ts'
import { RegistryService } from './registry/registry-service.ts'
import { RunnelClient } from './runnel-client.ts'
import { parseStaticNetwork } from './registry/static-network.ts'
import type { Eip1193Provider } from './wallet.ts'

/** The parts of a node besides its configuration. */
export interface NodeModules {
  /** The key of this process. */
  readonly identity: Identity
  /** Whether another process may have the node's key. */
  readonly isKeyShared: boolean
  /**
   * The user in whose name it takes part, as nodes of wire 1.0 see it; undefined if that is its own, or the user's key is
   * elsewhere.
   */
  readonly user: Identity | undefined
  /** The user it acts for, as it shows to all other nodes. */
  readonly acting: Acting
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly publisherPolicy: PublisherPolicy
  /** Decides who may be a neighbour. */
  readonly readerPolicy: ReaderPolicy
  readonly trackers: TrackerDirectory
  /** Decides which peers may be linked; in a private network the node's own id must be listed, too. */
  readonly admission: NodeAdmission & { readonly isPrivate: boolean }
  /** Checks signatures once the node's own thread falls behind; the client stops it. */
  readonly verification: VerificationPool | undefined
  /** Fills gaps that neighbours cannot fill, from storage nodes. */
  readonly archive: Archive
}

/** Makes the node that a client embeds. */
export type CreateNode = (
  options: Pick<NetworkNodeOptions, 'light' | 'thinFloods'> & {
    transports: ParsedTransports
    limits: Partial<NetworkLimits>
  },
  modules: NodeModules,
) => NetworkNode

/** The parts that a client is built on; every part but the node has a default. */
export interface ClientModules {
  readonly createNode: CreateNode
  /** Where log lines go. Default: nowhere; everything that is logged is also a status. */
  readonly logger?: Logger | undefined
  /** Signs and pays for changes of the registries instead of the user's key; its owner is asked for each change. */
  readonly wallet?: Eip1193Provider | Signer | undefined
  /** Where delegations of a signer or a wallet are kept. Default: in memory; in a page for all of its origin. */
  readonly sessions?: SessionStore | undefined
  /** Where cards are found and kept. Default: storage nodes. */
  readonly cards?: Cards | undefined
  /** For networks whose document is in a file. Default in Node: the file system; in a page: none. */
  readonly files?: Files | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  /**
   * Steps that transform content between the application and the wire: in this order when messages are published, after
   * compression, and in reverse order when they are delivered. Default: none.
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
  const nodeKey =
    parsed.nodePrivateKey === undefined ? generatePrivateKey(random) : parsePrivateKey(parsed.nodePrivateKey)
  const identity = createIdentity(nodeKey, crypto)
  const signer = parsed.signer ?? (parsed.wallet && walletSigner(parsed.wallet))
  const userKey = parsed.privateKey === undefined ? nodeKey : parsePrivateKey(parsed.privateKey)
  const key = parsed.delegation === undefined ? toHex(userKey) : undefined
  const account = modules.wallet ?? signer ?? key
  const registry = await startRegistry(parsed, account ?? toHex(generatePrivateKey(random)), {
    clock,
    logger,
    files: modules.files,
  })
  phases.reach('registry')
  let node: NetworkNode | undefined
  let user: ActingUser | undefined
  const verification = openVerification(parsed.verificationWorkers, systemClock)
  try {
    const { chainId, accounts, delegations } = registry
    const { sessions = memoryStore() } = modules
    user = await openActingUser(
      { ...parsed, signer },
      { node: identity, chainId, accounts, delegations, sessions, crypto, ciphers, clock, random },
    )
    // So that what was taken back, or needs a chain, is said before anything is sent.
    if (user.delegation !== undefined) await registry.delegations.resolve(user.delegation)
    const { publisherPolicy, readerPolicy, directory: trackers, admission } = registry
    const { transports, maxLiveAgeMs, thinFloods } = parsed
    const archive = new LateArchive()
    node = createNode(
      {
        transports,
        thinFloods,
        light: await lightOf(parsed),
        limits: { maxLiveAgeMs, ...guestLimits(parsed) },
      },
      {
        ...{ identity, isKeyShared: parsed.nodePrivateKey !== undefined },
        ...{ crypto, clock: ownClock, random, publisherPolicy, readerPolicy },
        ...{ trackers, admission, archive, verification, acting: user },
        user: user.key === undefined || user.userId === identity.nodeId ? undefined : user.key,
      },
    )
    const client = new RunnelClient(parsed, {
      user,
      crypto,
      clock,
      random,
      logger,
      faults,
      node,
      registry,
      verification,
      hasAccount: account !== undefined,
      cards: modules.cards,
      archive,
      phases,
      contentSteps: modules.contentSteps ?? [],
    })
    await node.start()
    return client
  } catch (error) {
    user?.stop()
    await node?.stop()
    verification?.stop()
    await registry.stop()
    throw error
  }
}

function hostsOf({ via }: ParsedClientConfig): HostsOptions | undefined {
  if (via === undefined) return undefined
  const { hosts, atOnce } = 'hosts' in via ? via : { hosts: via, atOnce: defaultHostsAtOnce }
  const addresses = hosts.map((host) => {
    if (typeof host === 'string') return { url: host }
    return { url: host.url, nodeId: host.nodeId === undefined ? undefined : toNodeId(host.nodeId) }
  })
  return { hosts: addresses, atOnce }
}

/** Loaded where it is used. */
async function lightOf(parsed: ParsedClientConfig): Promise<LightOptions | undefined> {
  const hosts = hostsOf(parsed)
  const servesGuests = parsed.guests.serve
  if (hosts === undefined && !servesGuests) return undefined
  const { lightParts: parts } = await import('@runnel/network/light')
  return { parts, hosts, servesGuests }
}

function guestLimits({ guests }: ParsedClientConfig): Partial<NetworkLimits> {
  const { maxGuests, maxStreamParts: maxGuestParts, maxBytesPerS: maxGuestBytesPerS } = guests
  return {
    ...(maxGuests === undefined ? {} : { maxGuests }),
    ...(maxGuestParts === undefined ? {} : { maxGuestParts }),
    ...(maxGuestBytesPerS === undefined ? {} : { maxGuestBytesPerS }),
  }
}

/** Reads the network's registries, and follows them. Nothing is left running when it throws. */
export async function followRegistry(
  config: ClientConfig,
  modules: Omit<ClientModules, 'createNode'>,
): Promise<RegistryService> {
  const { clock = systemClock, random = systemRandom, logger = silentLogger, files } = modules
  return startRegistry(parseConfig(config), toHex(generatePrivateKey(random)), { clock, logger, files })
}

interface RegistryModules {
  readonly clock: Clock
  readonly logger: Logger
  readonly files?: Files | undefined
}

async function startRegistry(
  parsed: ParsedClientConfig,
  account: AccountSource,
  modules: RegistryModules,
): Promise<RegistryService> {
  const { clock, logger } = modules
  const registries = await openRegistries(parsed, account, modules)
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
  modules: RegistryModules,
) {
  if (network.kind === 'static') return createStaticRegistries(network.document)
  // The others are loaded when they are used: ethers is larger than all the rest.
  const { pollIntervalMs } = registry
  if (network.kind === 'document') {
    const { openDocumentRegistries } = await import('./registry/document/document-registries.ts')
    return openDocumentRegistries(
      { ...network, pollIntervalMs },
      { ...modules, parseNetwork: parseStaticNetwork, crypto: await loadCrypto() },
    )
  }
  const { openChainRegistries } = await import('./registry/chain/chain-registries.ts')
  return openChainRegistries({ ...network, account, pollIntervalMs }, modules)
}
