import type { NetworkNode } from '@runnel/network'
import type { Clock, Crypto, Random, VerificationPool } from '@runnel/protocol'
import { Closing } from './closing.ts'
import type { ParsedClientConfig } from './config.ts'
import type { ContentStep } from './content/content-step.ts'
import { ContentSteps } from './content/content-steps.ts'
import { deflateStep } from './content/deflate.ts'
import { ClientKeys } from './encryption/client-keys.ts'
import { Encryption } from './encryption/encryption.ts'
import { lazyCards } from './encryption/lazy-cards.ts'
import type { Cards } from './encryption/ports.ts'
import type { Faults } from './faults.ts'
import { Gate } from './gate.ts'
import type { ActingUser } from './identity/acting-user.ts'
import { latestLimits } from './latest/limits.ts'
import { Lazy } from './lazy.ts'
import { GuestParts } from './light/guest-parts.ts'
import { hearAdmission } from './listening/hear-admission.ts'
import { hearDelegation } from './listening/hear-delegation.ts'
import { hearMessages } from './listening/hear-messages.ts'
import { hearNode } from './listening/hear-node.ts'
import { hearRegistry } from './listening/hear-registry.ts'
import type { Logger } from './logger.ts'
import type { Phases } from './phases.ts'
import { Publisher } from './publish/publisher.ts'
import { ReadingRights } from './reading-rights.ts'
import type { RegistryService } from './registry/registry-service.ts'
import { StorageArchive, type LateArchive } from './resend/archive.ts'
import { HistorySource } from './resend/history-source.ts'
import { resendLimits } from './resend/limits.ts'
import { StoredMessages } from './resend/stored-messages.ts'
import type { StorageWaiter } from './resend/wait-for-storage.ts'
import { StatusHub } from './status.ts'
import { StreamParts } from './stream-parts.ts'
import { Subscriber } from './subscribe/subscriber.ts'

/** How long to wait until key records are stored. */
const storedTimeoutMs = 5_000

export interface RunnelClientModules {
  readonly user: ActingUser
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly faults: Faults
  readonly node: NetworkNode
  readonly registry: RegistryService
  /** Where signatures are checked once the node's own thread is behind; the client stops it. */
  readonly verification?: VerificationPool | undefined
  /** Whether the registries can be changed in the user's name: its key is here, or a wallet that signs. */
  readonly hasAccount: boolean
  /** Of the node: what fills its gaps is given to it. */
  readonly archive: LateArchive
  readonly phases: Phases
  /** Where cards are found and kept. Default: storage nodes. */
  readonly cards?: Cards | undefined
  /** Content steps between the application and the wire, in addition to compression. */
  readonly contentSteps: readonly ContentStep[]
}

export type ClientServices = ReturnType<typeof createServices>

/** What a client is made of, put together, and listening: before the node starts, so that nothing is missed. */
export function createServices(config: ParsedClientConfig, modules: RunnelClientModules) {
  const { user, clock, node, registry } = modules
  const { cache, delegations, publisherPolicy: policy, readerPolicy } = registry
  const { userId } = user
  const { nodeId } = node
  const { waitForNeighboursMs, maxLiveAgeMs } = config
  const status = new StatusHub()
  const gate = new Gate(modules)
  const rights = new ReadingRights({ user }, { cache, clock, policy: readerPolicy })
  const parts = new StreamParts({ node, registry, rights, isLight: config.via !== undefined })
  const base = { ...modules, cache, delegations, parts, status, gate, rights }
  const history = new HistorySource(resendLimits, { ...base, policy, endings: delegations })
  const { closing } = history
  // Used while the client closes, too: what it still writes then is waited for. Once that is over, the waiter itself refuses.
  const lazyWaiter = new Lazy({ requireOpen: () => {} }, async () => {
    const { StorageWaiter } = await import('./resend/wait-for-storage.ts')
    return new StorageWaiter({
      ...{ history, cache },
      keysStored: (streamIds, signal) => encryption.keysStored(streamIds, signal),
    })
  })
  const waiter: Pick<StorageWaiter, 'wait'> = {
    wait: async (...wanted) => (await lazyWaiter.get()).wait(...wanted),
  }
  const cards = modules.cards ?? storageCards(history, modules)
  const encryption: Encryption = new Encryption({
    ...{ ...base, history, source: user.readingKeys, directory: cards, signal: closing },
    permissionTable: (streamId) => registry.permissionTable(streamId),
    stored: (places, signal) => waiter.wait(places, { timeoutMs: storedTimeoutMs, signal }),
    say: (streamId, news) => status.emit({ type: 'encryption', streamId, ...news }),
  })
  const compression = deflateStep({ compress: config.publish.compress === 'deflate' })
  // Compressed first: encrypted content does not compress.
  const steps = new ContentSteps([compression, ...modules.contentSteps, encryption.step], closing)
  const shared = { ...base, history, closing, encryption, steps, userId, nodeId, waiter }
  const archive = new StorageArchive(shared)
  modules.archive.use(archive)
  const publisher = new Publisher(
    { ...config.publish, waitForNeighboursMs, maxBehindMs: maxLiveAgeMs / 2 },
    shared,
  )
  const subscriber = new Subscriber({ ...config.subscribe, waitForNeighboursMs }, shared)
  const sides = new Lazy(gate, async () => {
    const { SideServices } = await import('./side/side-services.ts')
    const isEncrypted = encryption.isEncrypted.bind(encryption)
    return new SideServices({ ...shared, publisher, subscriber, isEncrypted })
  })
  const keys = new ClientKeys(shared)
  const services = { ...shared, archive, publisher, subscriber, sides, keys }
  hearNode(node, services)
  hearMessages(node, services)
  hearRegistry(registry, services)
  hearDelegation(user, services)
  hearAdmission(registry.admission, services)
  if (config.guests.serve) new GuestParts(services).start()
  return {
    ...services,
    cards,
    stored: new StoredMessages(services),
    streams: new Lazy(gate, async () => {
      const { Streams } = await import('./streams/streams.ts')
      return new Streams({ account: gate.account, userId }, { ...services, cards })
    }),
    latest: new Lazy(
      gate,
      async () => new (await import('./latest/last.ts')).LatestValues(latestLimits, services),
    ),
    relay: new Lazy(
      gate,
      async () => new (await import('./relay/batch-relay.ts')).BatchRelay({ ...services, maxLiveAgeMs }),
    ),
    life: new Closing({ timeoutMs: config.closeTimeoutMs }, services),
  }
}

function storageCards(history: HistorySource, modules: RunnelClientModules): Cards {
  const { registry, node, crypto, clock } = modules
  const { directory, sourceModules } = history
  return lazyCards({
    ...{ chainId: registry.chainId, contracts: registry.contracts, crypto, clock },
    ...{ requests: sourceModules.requests, directory, nodeId: node.nodeId },
    listStorageNodes: () => registry.listStorageNodes(),
  })
}
