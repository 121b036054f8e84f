import type { RpcStatus } from '@runnel/contracts'
import type { PublisherPolicy } from '@runnel/network'
import {
  isRunnelError,
  oneAtATime,
  type Cancel,
  type Clock,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import type { Logger } from '../logger.ts'
import { reasonOf } from '../errors.ts'
import type { AccountsOnChain } from '../identity/request-signature.ts'
import type {
  ContractReader,
  DelegationRegistryWriter,
  Registries,
  RegistryChange,
  RegistryHealth,
  StorageNodeInfo,
  StorageRegistryWriter,
  StreamInfo,
  StreamRegistryWriter,
} from './ports.ts'
import { createPublisherPolicy } from './publisher-policy.ts'
import { RegistryReaderPolicy } from './reader-policy.ts'
import { RegistryAdmission } from './registry-admission.ts'
import { RegistryCache } from './registry-cache.ts'
import { RegistryDelegations } from './registry-delegations.ts'
import { RegistryTrackerDirectory } from './tracker-directory.ts'
import { shownUrl } from './tracker-url.ts'

/** Codes of errors that the health of the source says once. */
const saidByHealth = new Set(['CHAIN_UNREACHABLE', 'CHAIN_DISPUTED'])

export interface RegistryServiceOptions {
  readonly maxAgeMs: number
  readonly maxCachedEntries: number
}

/** Everything that the client and its node need from the registries: cached reads, the ports of the node, and writes. */
export class RegistryService {
  /** The id of the chain with the registries; 0 if they are on no chain. */
  readonly chainId: number
  readonly cache: RegistryCache
  readonly directory = new RegistryTrackerDirectory()
  /** Whether delegations hold, as the registry says. */
  readonly delegations: RegistryDelegations
  /** The users whose nodes may take part, as the registry last said. */
  readonly admission: RegistryAdmission
  readonly publisherPolicy: PublisherPolicy
  readonly readerPolicy: RegistryReaderPolicy
  /** Reports changes, after dropping the cached values they affect. */
  readonly writer: StreamRegistryWriter
  /** The account in whose name changes are made; undefined if nothing can be changed. */
  readonly account: NodeId | undefined
  /** Which users are contracts. */
  readonly accounts: AccountsOnChain
  /** Asks users that are contracts. */
  readonly contracts: ContractReader
  /** Like `writer`, for storage nodes. */
  readonly storageWriter: StorageRegistryWriter
  /** Like `writer`, for delegations. */
  readonly delegationWriter: DelegationRegistryWriter
  /** Called when the source becomes unreachable, and when it becomes reachable again. */
  onHealth: (health: RegistryHealth) => void = () => {}
  /** Called for every change, after the cached values it affects are dropped. */
  onChange: (change: RegistryChange) => void = () => {}
  /** Called when the state of one of several chain endpoints, or of a source of a document, changes. */
  onEndpoint: (status: RpcStatus) => void = () => {}
  /** Called when the registry lists no usable tracker, and when it lists some again. */
  onTrackers: (listed: { readonly state: 'missing' | 'listed'; readonly kept: number }) => void = () => {}
  readonly #options: RegistryServiceOptions
  readonly #registries: Registries
  readonly #clock: Clock
  readonly #logger: Logger
  /** One after the other, so that the last read wins. */
  readonly #readNodesAgain = oneAtATime(() => this.#readNodes())
  readonly #readTrackersAgain = oneAtATime(() => this.#readTrackers())
  #cancelRefresh: Cancel = () => {}
  #running = false
  #lacksTrackers = false
  #hasDelegationNews = false

  constructor(
    options: RegistryServiceOptions,
    modules: { registries: Registries; clock: Clock; logger: Logger },
  ) {
    const { registries, clock, logger } = modules
    this.#options = options
    this.#registries = registries
    this.#clock = clock
    this.#logger = logger
    const cached = { maxEntries: options.maxCachedEntries, maxAgeMs: options.maxAgeMs }
    const cache = new RegistryCache(cached, {
      clock,
      streams: registries.streams,
      storage: registries.storage,
    })
    const delegations = new RegistryDelegations(cached, { clock, registry: registries.delegations })
    delegations.onChange = () => this.#delegationsChanged()
    this.cache = cache
    this.delegations = delegations
    this.admission = new RegistryAdmission(delegations)
    this.publisherPolicy = createPublisherPolicy(cache, delegations)
    this.readerPolicy = new RegistryReaderPolicy({ cache, delegations, clock })
    this.chainId = registries.chainId
    this.account = registries.account
    this.accounts = registries.accounts
    this.contracts = registries.contracts
    this.writer = forgettingWriter(registries.streams, (change) => this.#changed(change))
    this.storageWriter = forgettingStorageWriter(registries.storage, () => this.#changed({ kind: 'storage' }))
    this.delegationWriter = forgettingDelegationWriter(registries, (change) => this.#changed(change))
  }

  /** Reads the trackers and the permitted nodes, and begins to follow changes. Throws what the registries throw. Idempotent. */
  async start(): Promise<void> {
    if (this.#running) return
    this.#running = true
    await this.#registries.start({
      onChange: (change) => this.#changed(change),
      onHealth: (health) => this.#health(health),
      onEndpoint: (status) => this.onEndpoint(status),
    })
    await Promise.all([this.#readTrackersAgain(), this.#readNodesAgain()])
    this.#scheduleRefresh()
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#running = false
    this.#cancelRefresh()
    await this.#registries.stop()
  }

  /** Returns the text of the signed document that counts now; undefined if the network has none. */
  get document(): string | undefined {
    return this.#registries.document?.()
  }

  /** The state of each of several chain endpoints, or of each source of a document. */
  get endpoints(): readonly RpcStatus[] {
    return this.#registries.endpoints?.() ?? []
  }

  /** Uncached. */
  listStreams: Registries['streams']['listStreams'] = (filter) => this.#registries.streams.listStreams(filter)

  /** Uncached. */
  permissionTable: Registries['streams']['permissionTable'] = (streamId) =>
    this.#registries.streams.permissionTable(streamId)

  /** Uncached. */
  listStorageNodes(): Promise<readonly StorageNodeInfo[]> {
    return this.#registries.storage.listStorageNodes()
  }

  /** Uncached. */
  streamsStoredBy(nodeId: NodeId): Promise<readonly StreamId[]> {
    return this.#registries.storage.streamsStoredBy(nodeId)
  }

  /** A stream comes into use: its own trackers are followed until it is released. */
  use(stream: StreamInfo): void {
    this.directory.setOwnTrackers(stream.id, stream.trackers)
  }

  release(streamId: StreamId): void {
    this.directory.forget(streamId)
  }

  #changed(change: RegistryChange): void {
    this.cache.apply(change)
    this.delegations.apply(change)
    if (change.kind === 'trackers' || change.kind === 'unknown') this.#inBackground(this.#readTrackersAgain)
    if (change.kind === 'nodes' || change.kind === 'unknown') this.#refreshNodes()
    // Of the cache, which does not take an answer from before the change.
    if (change.kind === 'stream')
      this.#inBackground(() => this.#readOwnTrackers(change.streamId, (id) => this.cache.getStream(id)))
    if (change.kind === 'unknown') this.#readAllOwnTrackers()
    if (change.kind === 'stream' || change.kind === 'permissions') this.readerPolicy.changed(change.streamId)
    if (change.kind === 'storage' || change.kind === 'unknown') this.readerPolicy.changed(undefined)
    if (change.kind === 'delegations' || change.kind === 'unknown') this.#delegationsChanged()
    this.onChange(change)
  }

  /** All who go by a delegation look again, once for the changes of a poll. */
  #delegationsChanged(): void {
    if (this.#hasDelegationNews) return
    this.#hasDelegationNews = true
    this.#clock.endOfTurn(() => {
      this.#hasDelegationNews = false
      this.readerPolicy.changed(undefined)
      this.admission.delegationsChanged()
    })
  }

  get #name(): string {
    return this.#registries.document ? 'the network’s document' : 'the chain'
  }

  #health(health: RegistryHealth): void {
    const { state, source, error } = health
    if (state === 'reachable') {
      this.#logger.info({ source }, `${this.#name} answers again`)
      // There may have been a change that could not be read.
      this.#refreshNodes()
    } else
      this.#logger.warn(
        { source, reason: reasonOf(error) },
        `${this.#name} does not answer; what is known stays in use`,
      )
    this.onHealth(health)
  }

  #scheduleRefresh(): void {
    this.#cancelRefresh = this.#clock.schedule(this.#options.maxAgeMs, () => {
      this.#scheduleRefresh()
      this.#inBackground(this.#readTrackersAgain)
      this.#refreshNodes()
      this.#readAllOwnTrackers()
      if (this.delegations.hasContractAnswers) this.#delegationsChanged()
    })
  }

  #readAllOwnTrackers(): void {
    const { getStream } = this.#registries.streams
    for (const streamId of this.directory.streams)
      this.#inBackground(() => this.#readOwnTrackers(streamId, getStream))
  }

  #refreshNodes(): void {
    this.#inBackground(() => this.#readNodesAgain())
  }

  async #readNodes(): Promise<void> {
    this.admission.setUsers(await this.#registries.trackers.listNodes())
  }

  async #readTrackers(): Promise<void> {
    const { isEmpty, kept, unusable } = this.directory.setTrackers(
      await this.#registries.trackers.listTrackers(),
    )
    if (isEmpty !== this.#lacksTrackers) {
      this.#lacksTrackers = isEmpty
      if (isEmpty)
        this.#logger.warn(
          { kept },
          `the registry lists no tracker${kept > 0 ? '; the known trackers stay in use' : ' yet'}`,
        )
      else this.#logger.info({}, 'the registry lists trackers again')
      this.onTrackers({ state: isEmpty ? 'missing' : 'listed', kept })
    }
    for (const { nodeId, url } of unusable) {
      this.#logger.warn({ nodeId, url: shownUrl(url) }, 'a tracker in the registry has no usable URL')
    }
  }

  async #readOwnTrackers(streamId: StreamId, read: Registries['streams']['getStream']): Promise<void> {
    if (!this.directory.has(streamId)) return
    const stream = await read(streamId)
    if (stream !== undefined && this.directory.has(streamId)) this.use(stream)
  }

  /** What fails here is tried again with the next change or when it is too old; that the chain is away is said once, by its health. */
  #inBackground(read: () => Promise<void>): void {
    read().catch((error: unknown) => {
      if (!this.#running || (isRunnelError(error) && saidByHealth.has(error.code))) return
      this.#logger.warn({ reason: reasonOf(error) }, 'reading the registry failed')
    })
  }
}

/** One's own changes count at once, before the chain reports them. */
function forgettingWriter(
  writer: StreamRegistryWriter,
  changed: (change: RegistryChange) => void,
): StreamRegistryWriter {
  return {
    async createStream(draft) {
      await writer.createStream(draft)
      changed({ kind: 'stream', streamId: draft.id })
    },
    async updateStream(streamId, settings) {
      await writer.updateStream(streamId, settings).finally(() => changed({ kind: 'stream', streamId }))
    },
    async deleteStream(streamId) {
      await writer.deleteStream(streamId)
      changed({ kind: 'stream', streamId })
    },
    async grant(streamId, grant) {
      await writer
        .grant(streamId, grant)
        .finally(() => changed({ kind: 'permissions', streamId, user: grant.user }))
    },
    async revoke(streamId, revoked) {
      await writer
        .revoke(streamId, revoked)
        .finally(() => changed({ kind: 'permissions', streamId, user: revoked.user }))
    },
  }
}

function forgettingStorageWriter(writer: StorageRegistryWriter, changed: () => void): StorageRegistryWriter {
  return {
    assign: (streamId, nodeId) => writer.assign(streamId, nodeId).finally(changed),
    unassign: (streamId, nodeId) => writer.unassign(streamId, nodeId).finally(changed),
    register: (url) => writer.register(url).finally(changed),
  }
}

function forgettingDelegationWriter(
  { delegations: writer, account }: Pick<Registries, 'delegations' | 'account'>,
  changed: (change: RegistryChange) => void,
): DelegationRegistryWriter {
  const ended = (which: { delegateId: NodeId } | { begunByMs: number }) =>
    account !== undefined && changed({ kind: 'delegations', userId: account, ...which })
  return {
    revokeDelegate: (delegateId) => writer.revokeDelegate(delegateId).finally(() => ended({ delegateId })),
    revokeDelegations: (begunByMs) => writer.revokeDelegations(begunByMs).finally(() => ended({ begunByMs })),
  }
}
