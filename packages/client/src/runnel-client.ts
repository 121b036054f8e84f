import type { RpcStatus } from '@runnel/contracts'
import type { HostView, NetworkNode, PublisherPolicy } from '@runnel/network'
import {
  keyPartition,
  parseStreamPartId,
  toNodeId,
  streamIdOf,
  toStreamPartId,
  type Card,
  type Clock,
  type DelegationHistory,
  type Crypto,
  type NodeId,
  type Random,
  type ReaderPolicy,
  isRunnelError,
  type RunnelError,
  type StreamId,
  type VerificationPool,
} from '@runnel/protocol'
import type { ParsedClientConfig } from './config.ts'
import { deadline, throwIfAborted } from './deadline.ts'
import { clientError, streamNotFound } from './errors.ts'
import type { ContentStep } from './content/content-step.ts'
import { ContentSteps } from './content/content-steps.ts'
import { checkedKey } from './content/message-key.ts'
import { deflateStep } from './content/deflate.ts'
import { Encryption } from './encryption/encryption.ts'
import type { Cards } from './encryption/ports.ts'
import { lazyCards } from './encryption/lazy-cards.ts'
import { asError, reasonOf } from './errors.ts'
import type { Faults } from './faults.ts'
import type { Logger } from './logger.ts'
import type { PreparedMessage, PublishedMessage } from './publish/part-outbox.ts'
import { publishMany, type PublishedMany, type PublishManyOptions } from './publish/publish-many.ts'
import { Publisher, type PrepareOptions, type PublishOptions } from './publish/publisher.ts'
import type { UrgentRate, UrgentRateOptions } from './publish/urgent-rate.ts'
import { findStreams, type StreamFilter } from './find-streams.ts'
import { checkPartition } from './publish/partition.ts'
import type { Phases, PhaseTimes } from './phases.ts'
import type { Permissions, StorageNodeInfo, StreamInfo, UserPermissions } from './registry/ports.ts'
import type { ActingUser } from './identity/acting-user.ts'
import { ReadingRights } from './reading-rights.ts'
import type { RegistryService } from './registry/registry-service.ts'
import { GuestParts } from './light/guest-parts.ts'
import { toMessagesWithheld } from './light/host-messages.ts'
import type { LastOptions, LatestValues, LatestValuesModules, TableOptions } from './latest/last.ts'
import { latestLimits } from './latest/limits.ts'
import { isTrackerUrl } from './registry/tracker-url.ts'
import { StorageArchive, type LateArchive } from './resend/archive.ts'
import { HistorySource } from './resend/history-source.ts'
import { resendLimits } from './resend/limits.ts'
import { PacedPlayback, type Playback, type PlaybackOptions, type ReadFrom } from './resend/playback.ts'
import { readStorageNode, type StoredPart } from './resend/read-storage-node.ts'
import { resend, type ResendOptions } from './resend/resend.ts'
import type { HistorySelection } from './resend/selection.ts'
import { Slots } from './resend/slots.ts'
import { StorageWaiter, type MessagePlace, type WaitForStorageOptions } from './resend/wait-for-storage.ts'
import type { CountOptions, StreamCount } from './presence/count.ts'
import type { BatchRelay, BatchRelayModules, RelayedBatch } from './relay/batch-relay.ts'
import type { RecordOptions, Recording } from './record/recorder.ts'
import type { Presence, PresenceOptions } from './presence/presence.ts'
import type { FailedReply, Reply } from './request/pending-request.ts'
import type { RequestManyOptions, RequestOptions } from './request/requester.ts'
import type { RequestHandler, RespondOptions, Responding } from './request/responder.ts'
import type { DurableReader } from './reader/durable-reader.ts'
import type { ReaderOptions, ReaderStart } from './reader/reader-options.ts'
import type { StoredReader } from './reader/readers.ts'
import type { SideServices, SideServicesModules } from './side/side-services.ts'
import { StatusHub, type ClientStatus } from './status.ts'
import { StreamParts } from './stream-parts.ts'
import { requirePermission } from './permission.ts'
import type { RotatedKeys, StreamKeys } from './encryption/stream-keys.ts'
import {
  cardIn,
  draftOf,
  grantOf,
  revokedOf,
  settingsOf,
  type GrantOptions,
  type NewStream,
  type RevokeOptions,
  type StreamUpdate,
} from './stream-changes.ts'
import { Subscriber, type SubscribeOptions } from './subscribe/subscriber.ts'
import type { Message } from './subscribe/message.ts'
import type { OnMessage } from './subscribe/inbox.ts'
import type { Subscription } from './subscribe/subscription.ts'

/** Key records are waited for that long, until they are stored. */
const storedTimeoutMs = 5_000

/** How a client came to its end. */
export interface ClientClosed {
  /** Messages that were published and could not be sent in time; their `publish` was rejected with CLIENT_CLOSED. */
  readonly unsentMessages: number
}

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

/**
 * A member of a Runnel network: manages streams, publishes and subscribes. Made by `createClient`.
 * Stream ids are `0xowner/path`, or `/path` for the account's own; whatever cannot be done is a RunnelError with a code of `clientErrors`.
 */
export class RunnelClient implements AsyncDisposable {
  /** Who publishes and reads: the address of the user's key, which any number of clients may act for. */
  readonly userId: NodeId
  /** The address of the node's key: this process among the user's others. */
  readonly nodeId: NodeId
  /** The chain of the registries; 0 where they are on none. */
  readonly chainId: number
  /** The node inside, for its metrics and what else an operator wants to see. */
  readonly network: NetworkNode
  /** Finds the cards of users, and puts one's own where others find it. */
  readonly cards: Cards
  readonly #user: ActingUser
  readonly #hasAccount: boolean
  readonly #registry: RegistryService
  readonly #verification: VerificationPool | undefined
  readonly #publisher: Publisher
  readonly #subscriber: Subscriber
  readonly #parts: StreamParts
  readonly #rights: ReadingRights
  readonly #history: HistorySource
  readonly #archive: StorageArchive
  readonly #waiter: StorageWaiter
  readonly #encryption: Encryption
  /** Presence, replies and cursors, beside the messages of streams. */
  readonly #sideModules: SideServicesModules
  #loadingSides: Promise<SideServices> | undefined
  /** Undefined until it is loaded. */
  #sides: SideServices | undefined
  readonly #shared: LatestValuesModules
  #latest: Promise<LatestValues> | undefined
  readonly #relayModules: BatchRelayModules
  #relay: Promise<BatchRelay> | undefined
  readonly #status = new StatusHub()
  readonly #clock: Clock
  readonly #crypto: Crypto
  readonly #closeTimeoutMs: number
  readonly #phases: Phases
  readonly #closed = Promise.withResolvers<ClientClosed>()
  #closing: Promise<ClientClosed> | undefined
  /** Another process with the key of the node took its place. */
  #replaced: RunnelError | undefined

  constructor(config: ParsedClientConfig, modules: RunnelClientModules) {
    const { user, clock, node, registry, logger } = modules
    this.userId = user.userId
    this.nodeId = node.nodeId
    this.network = node
    this.#user = user
    this.#hasAccount = modules.hasAccount
    this.chainId = registry.chainId
    this.#registry = registry
    this.#verification = modules.verification
    this.#clock = clock
    this.#crypto = modules.crypto
    this.#phases = modules.phases
    this.#closeTimeoutMs = config.closeTimeoutMs
    const { cache, delegations, publisherPolicy: policy, readerPolicy } = registry
    const rights = new ReadingRights({ user }, { cache, clock, policy: readerPolicy })
    const parts = new StreamParts({ node, registry, rights, isLight: config.via !== undefined })
    this.#parts = parts
    this.#rights = rights
    const status = this.#status
    this.#history = new HistorySource(resendLimits, {
      ...modules,
      cache,
      parts,
      policy,
      endings: delegations,
      status,
    })
    this.#waiter = new StorageWaiter({ history: this.#history, cache })
    const storageCards = lazyCards({
      ...{ chainId: registry.chainId, contracts: registry.contracts, crypto: modules.crypto, clock },
      ...{ requests: this.#history.sourceModules.requests, directory: this.#history.directory },
      ...{ nodeId: node.nodeId, listStorageNodes: () => registry.listStorageNodes() },
    })
    this.cards = modules.cards ?? storageCards
    const encryption = new Encryption({
      ...modules,
      cache,
      parts,
      history: this.#history,
      permissionTable: (streamId) => registry.permissionTable(streamId),
      source: user.readingKeys,
      directory: this.cards,
      stored: (places, signal) => this.#waiter.wait(places, { timeoutMs: storedTimeoutMs, signal }),
      say: (streamId, news) => status.emit({ type: 'encryption', streamId, ...news }),
      signal: this.#history.closing,
    })
    this.#encryption = encryption
    const compression = deflateStep({ compress: config.publish.compress === 'deflate' })
    // Compressed first: encrypted content does not compress.
    const contentSteps = [compression, ...modules.contentSteps, encryption.step]
    const steps = new ContentSteps(contentSteps, this.#history.closing)
    const shared = { ...modules, cache, delegations, parts, status, steps, history: this.#history }
    this.#shared = shared
    this.#relayModules = { ...shared, maxLiveAgeMs: config.maxLiveAgeMs }
    this.#archive = new StorageArchive(shared)
    modules.archive.use(this.#archive)
    this.#publisher = new Publisher(
      {
        ...config.publish,
        waitForNeighboursMs: config.waitForNeighboursMs,
        maxBehindMs: config.maxLiveAgeMs / 2,
      },
      shared,
    )
    this.#subscriber = new Subscriber(
      { ...config.subscribe, waitForNeighboursMs: config.waitForNeighboursMs },
      shared,
    )
    this.#sideModules = {
      ...{ ...shared, waiter: this.#waiter, nodeId: node.nodeId, userId: user.userId },
      ...{ publisher: this.#publisher, subscriber: this.#subscriber, closing: this.#history.closing },
      isEncrypted: (streamId) => encryption.isEncrypted(streamId),
    }
    this.#listen(parts, logger)
    if (config.guests.serve) new GuestParts({ node, cache, parts, logger }).start()
    modules.faults.onFault = ({ error, ...where }) =>
      status.emit({ type: 'fault', ...where, error: asError(error) })
    this.network.on('fault', (fault) => modules.faults.report(fault))
  }

  /** The id of a stream: `0xowner/path`, or `/path` for one of `account`'s. Throws INVALID_STREAM_ID. */
  streamId(text: string): StreamId {
    return streamIdOf(text, this.account)
  }

  /** Of a light client: the hosts that it is linked to, and what they did, the preferred first. */
  get hosts(): readonly HostView[] {
    return this.network.hosts
  }

  /** In whose name registries are changed: the address of the wallet, or of the user. */
  get account(): NodeId {
    return (this.#hasAccount ? this.#registry.account : undefined) ?? this.userId
  }

  /** Creates a stream under the client's account, and resolves when it can be used. Throws STREAM_EXISTS, NOT_STREAM_OWNER, REGISTRY_REFUSED and what a chain throws. */
  async createStream(stream: NewStream): Promise<StreamInfo> {
    this.#requireAccount()
    const draft = draftOf(stream, this.account)
    await this.#registry.writer.createStream(draft)
    // Created it is, whether or not the chain still answers.
    const created = await this.#registry.cache.getStream(draft.id).catch(() => undefined)
    return created ?? { ...draft, createdMs: 0 }
  }

  /** Throws STREAM_NOT_FOUND, or what a chain throws when nothing is known. */
  async getStream(streamId: string): Promise<StreamInfo> {
    this.#requireOpen()
    const stream = await this.#registry.cache.getStream(this.streamId(streamId))
    if (stream === undefined) throw streamNotFound(streamId)
    return stream
  }

  /**
   * Changes partitions, metadata or trackers of a stream; what is not named stays as it is. Needs the edit permission. Messages are not
   * moved: with other partitions the same key may go to another one. Throws what `createStream` throws.
   */
  async updateStream(streamId: string, update: StreamUpdate): Promise<void> {
    this.#requireAccount()
    await this.#registry.writer.updateStream(this.streamId(streamId), settingsOf(update))
  }

  /** All streams, or those that match, ordered by id; read from the registry each time. Throws INVALID_ARGUMENT and INVALID_NODE_ID. */
  async listStreams(filter: StreamFilter = {}): Promise<readonly StreamInfo[]> {
    this.#requireOpen()
    const { account, userId } = this
    const nowMs = this.#clock.now()
    return findStreams(filter, { account, userId, nowMs, registry: this.#registry })
  }

  /** Deletes a stream and every permission on it. */
  async deleteStream(streamId: string): Promise<void> {
    this.#requireAccount()
    await this.#registry.writer.deleteStream(this.streamId(streamId))
  }

  /**
   * Gives permissions to a user or to the public; permissions not named stay unchanged. Only publish and subscribe can be public
   * or expire. Who may subscribe to an encrypted stream is passed the keys that this client can read, and waits for nobody then; where that
   * fails the status 'encryption' says so. Throws also INVALID_ARGUMENT, CARD_OF_OTHER_USER, and what `checkCard` throws.
   */
  async grant(streamId: string, grant: GrantOptions): Promise<void> {
    this.#requireAccount()
    const given = grantOf(grant)
    const card = cardIn(grant)
    if (card !== undefined) await this.checkCard(card)
    const id = this.streamId(streamId)
    await this.#registry.writer.grant(id, given)
    const { user, permissions } = given
    if (user !== 'public' && permissions.includes('subscribe')) await this.#shareKeys(id, user, card)
  }

  /** Takes permissions away; public permissions still apply to the user. */
  async revoke(streamId: string, revoked: RevokeOptions): Promise<void> {
    this.#requireAccount()
    await this.#registry.writer.revoke(this.streamId(streamId), revokedOf(revoked))
  }

  /**
   * Ends every delegation of `account` to a delegate, for ever: within seconds nodes take nothing more from the processes that act
   * with that key. What they published before stays valid in history. Throws what `revoke` throws, and REGISTRY_OUTDATED.
   */
  async revokeDelegate(delegateId: string): Promise<void> {
    this.#requireOpen()
    await this.#registry.delegationWriter.revokeDelegate(toNodeId(delegateId))
  }

  /**
   * Ends every delegation of `account` that began until now, by this machine's clock, as `revokeDelegate` does. Later ones are good:
   * processes that have the user's key go on, others with one from before need another.
   */
  async revokeDelegations(): Promise<void> {
    this.#requireOpen()
    await this.#registry.delegationWriter.revokeDelegations(this.#clock.now())
  }

  /**
   * Has the user read with its next reading key from now on: signs a card for it, which storage nodes keep. What was encrypted before stays
   * readable with the key before, also for whoever has stolen that. Throws NO_STORAGE_NODE, READING_KEY_CHANGED, and NO_READING_KEY or
   * READING_KEY_OTHER_GENERATION where the key was given to this client.
   */
  async renewReadingKey(signal: AbortSignal = this.#history.closing): Promise<Card> {
    this.#requireMember()
    return this.#encryption.renewCard(signal)
  }

  /**
   * Has storage nodes keep the user's card, so that whoever gives it a permission can give it the keys as well; done by itself when the
   * user first reads something encrypted. A user of a wallet is asked to sign, also one that refused
   * before. Throws NO_READING_KEY, READING_KEY_CHANGED, CARD_NEEDS_USER,
   * CARD_NOT_KEPT, CARDS_UNAVAILABLE, or what signing throws.
   */
  async ensureCard(signal: AbortSignal = this.#history.closing): Promise<Card> {
    this.#requireMember()
    return this.#encryption.ensureCard(signal)
  }

  /**
   * Whether a stream is encrypted, whose keys are in use, and which readers find them with nobody there. No secrets. Needs publish, subscribe
   * or grant. Throws STREAM_NOT_FOUND, NO_SUBSCRIBE_PERMISSION, and what the registry throws.
   */
  async keysOf(streamId: string): Promise<StreamKeys> {
    this.#requireMember()
    const id = this.streamId(streamId)
    const { grant, publishUntilMs } = await this.permissionsOf(id, this.userId)
    if (!grant && publishUntilMs <= this.#clock.now()) await requirePermission('subscribe', id, this.#shared)
    const stream = await this.#encryption.stream(id)
    const isEncrypted = await this.#encryption.isEncrypted(id)
    return { streamId: id, isEncrypted, choice: stream.choice, ...(await stream.keys()) }
  }

  /**
   * Makes a new key now: for what this user publishes, or for the whole stream where it is the key holder. Processes of the user that run
   * (unless the stream has no history for newcomers), and publishers that use the holder's keys, go over to it. What is older stays
   * readable. Throws NOT_ENCRYPTED, NOT_KEY_HOLDER, NO_PUBLISH_PERMISSION, STREAM_NOT_FOUND, and what the registry throws.
   */
  async rotateKeys(streamId: string): Promise<RotatedKeys> {
    this.#requireMember()
    const id = this.streamId(streamId)
    const stream = await this.#encryption.stream(id)
    if (stream.choice.keyHolder === undefined) await requirePermission('publish', id, this.#shared)
    if (!(await this.#encryption.isEncrypted(id))) throw clientError('NOT_ENCRYPTED', id)
    const { id: epochId, readers } = await stream.rotate()
    const isStored = await stream.settled(this.#history.closing).then(
      () => true,
      (error: unknown) => {
        if (!isRunnelError(error)) throw error
        return false
      },
    )
    return { epochId, readers, isStored }
  }

  /**
   * As the key holder of a stream, has a valid key ready for all its publishers until this client closes: a new one when a reader goes, or the
   * key gets old. Resolves when there is one. The status 'encryption' tells when there cannot be one later. Throws NOT_KEY_HOLDER,
   * KEYS_UNCERTAIN, STREAM_NOT_FOUND, and what the registry throws.
   */
  async holdKeys(streamId: string): Promise<void> {
    this.#requireMember()
    await this.#encryption.hold(this.streamId(streamId))
  }

  /** The permissions on a stream by user, the public ones first; read from the registry each time. Throws STREAM_NOT_FOUND. */
  async getPermissions(streamId: string): Promise<readonly UserPermissions[]> {
    const { id } = await this.getStream(streamId)
    return (await this.#registry.permissionTable(id)).entries
  }

  /** The permissions of a user on a stream, public or their own; from the cached registry. */
  async permissionsOf(streamId: string, user: string): Promise<Permissions> {
    this.#requireOpen()
    return this.#registry.cache.permissionsOf(this.streamId(streamId), toNodeId(user))
  }

  /** Who may publish, and under which delegations; from the cached registry. For storage nodes, which check what others give them. */
  get publisherPolicy(): PublisherPolicy {
    return this.#registry.publisherPolicy
  }

  /** When delegations were taken back; from the cached registry. For storage nodes, which check what others give them. */
  get delegationHistory(): DelegationHistory {
    return this.#registry.delegations
  }

  /** The threads that check signatures beside this one; undefined where there are none. For storage nodes, which check what others give them. */
  get verification(): VerificationPool | undefined {
    return this.#verification
  }

  /** Who may read, and under which delegations; from the cached registry. For storage nodes, which check who asks them. */
  get readerPolicy(): ReaderPolicy {
    return this.#registry.readerPolicy
  }

  /**
   * Throws unless a card is good now and its user's: CARD_OTHER_CHAIN, CARD_NOT_YET, CARD_FORGED, CONTRACT_NEEDS_CHAIN, or what the chain
   * throws. For storage nodes, which check what others give them.
   */
  async checkCard(card: Card): Promise<void> {
    const { chainId, contracts } = this.#registry
    const { requireGoodCard } = await import('./encryption/check-card.ts')
    await requireGoodCard(card, { chainId, contracts, crypto: this.#crypto, clock: this.#clock })
  }

  /** The storage nodes assigned to a stream; from the cached registry. Throws STREAM_NOT_FOUND. */
  async getStorageNodes(streamId: string): Promise<readonly StorageNodeInfo[]> {
    const { id } = await this.getStream(streamId)
    return this.#registry.cache.storageNodesOf(id)
  }

  /** All storage nodes of the network, ordered by id; read from the registry each time. */
  async listStorageNodes(): Promise<readonly StorageNodeInfo[]> {
    this.#requireOpen()
    return this.#registry.listStorageNodes()
  }

  /** The streams assigned to a storage node, ordered by id; read from the registry each time. */
  async streamsStoredBy(nodeId: string): Promise<readonly StreamId[]> {
    this.#requireOpen()
    return this.#registry.streamsStoredBy(toNodeId(nodeId))
  }

  /** Has a registered storage node keep a stream. Needs the edit permission on it. */
  async addToStorageNode(streamId: string, nodeId: string): Promise<void> {
    this.#requireAccount()
    await this.#registry.storageWriter.assign(this.streamId(streamId), toNodeId(nodeId))
  }

  /** Has a storage node keep a stream no longer. */
  async removeFromStorageNode(streamId: string, nodeId: string): Promise<void> {
    this.#requireAccount()
    await this.#registry.storageWriter.unassign(this.streamId(streamId), toNodeId(nodeId))
  }

  /** Registers the account as a storage node, or changes where it is reached: a ws:// or wss:// URL. Its node needs that key. */
  async registerStorageNode(url: string): Promise<void> {
    this.#requireAccount()
    if (!isTrackerUrl(url)) throw clientError('INVALID_ARGUMENT', 'a storage node has a ws:// or wss:// URL')
    await this.#registry.storageWriter.register(url)
  }

  /**
   * Takes part in a stream part without subscribing: messages flood through, and `network.on('batch')` reports them. Needs no
   * permission; meant for storage nodes. Partition 100 is the stream's key part. The returned function leaves again; it is idempotent. Throws STREAM_NOT_FOUND or
   * PARTITION_OUT_OF_RANGE.
   */
  async joinStreamPart(streamId: string, partition: number): Promise<() => void> {
    const stream = await this.getStream(streamId)
    this.#requireOpen()
    const isOfKeys = partition === keyPartition
    return this.#parts.join(stream, isOfKeys ? partition : checkPartition(partition, stream))
  }

  /**
   * Publishes a message: a Uint8Array as bytes, a string as text, anything else as JSON; at most 1 MiB. Messages of one call
   * after the other stay in order, those of one turn of the event loop share a signature. Resolves when the message was handed to
   * the network, after all earlier ones: await it so as not to publish faster than can be sent. Joins the stream part with the
   * first message, waits up to `waitForNeighboursMs` for a first neighbour unless nobody else is there, and stays in it until
   * `stopPublishing` or `close`. Without a neighbour the status 'publishing-alone' is given, `neighbours` is 0, and the node keeps
   * the message for a while for nodes that join.
   */
  async publish(streamId: string, content: unknown, options: PublishOptions = {}): Promise<PublishedMessage> {
    this.#requireMember()
    return this.#publisher.publish(this.streamId(streamId), content, options)
  }

  /**
   * Makes an urgent message ready, sealed and signed, that leaves within the call of `send`: for what a page says while it is closed, when
   * nothing is done any more that takes another turn. It is of this moment: make it anew every few seconds, as nodes take what is
   * hundreds of urgent messages old for known. Throws what `publish` throws.
   */
  async prepare(streamId: string, content: unknown, options: PrepareOptions): Promise<PreparedMessage> {
    this.#requireMember()
    return this.#publisher.prepare(this.streamId(streamId), content, options)
  }

  /**
   * Publishes all of an iterable, in order and as fast as it can be sent, waiting where `publish` would throw PUBLISH_QUEUE_FULL. The
   * first message that is refused ends it, with its error. `key` may be a function of the content. Throws what `publish` throws.
   */
  async publishMany<T>(
    streamId: string,
    contents: Iterable<T> | AsyncIterable<T>,
    { key, ...options }: PublishManyOptions<T> = {},
  ): Promise<PublishedMany> {
    this.#requireMember()
    const id = this.streamId(streamId)
    const publish = (content: unknown, ofKey: string | undefined) =>
      this.#publisher.publish(id, content, { ...options, key: ofKey })
    return publishMany<T>(contents, {
      // What the function throws is as what is refused.
      publish:
        typeof key === 'function'
          ? async (content) => publish(content, key(content))
          : (content) => publish(content, key),
      room: () => this.#publisher.room(),
    })
  }

  /**
   * Takes the value of a key away: publishes a message without content (null) that says so. Subscribers get it like any other; `last` and
   * `table` leave the key out. Throws what `publish` throws.
   */
  async remove(
    streamId: string,
    key: string,
    options: Omit<PublishOptions, 'key' | 'headers'> = {},
  ): Promise<PublishedMessage> {
    this.#requireMember()
    return this.#publisher.publish(this.streamId(streamId), null, { ...options, key: checkedKey(key) }, true)
  }

  /**
   * Passes on a batch that somebody else signed, such as a device that keeps its own key: checked as batches from the network are, and
   * flooded as it is. `delegation` is what it is signed under, where that is not known here. The user of this client must be able to read
   * the stream. Throws BATCH_FORGED, NO_PUBLISH_PERMISSION, TIMESTAMP_OUT_OF_BOUNDS, STREAM_NOT_FOUND,
   * PARTITION_OUT_OF_RANGE, MALFORMED_PACKET, and what the registry throws.
   */
  async relay(batchBytes: Uint8Array, delegation?: Uint8Array): Promise<RelayedBatch> {
    this.#requireMember()
    this.#relay ??= import('./relay/batch-relay.ts').then(
      ({ BatchRelay }) => new BatchRelay(this.#relayModules),
    )
    return (await this.#relay).relay(batchBytes, delegation)
  }

  /** Resolves when `publish` can take many more messages: await it now and then instead of each `publish`. */
  async writable(): Promise<void> {
    this.#requireOpen()
    await this.#publisher.room()
  }

  /**
   * Leaves the stream parts that were joined for publishing to a stream, when nothing else keeps them joined. Resolves when
   * all messages published there before are handed over. The next message joins again, and goes on where the last one was.
   */
  async stopPublishing(streamId: string): Promise<void> {
    this.#requireOpen()
    const id = this.streamId(streamId)
    await this.#publisher.leave(id)
    this.#sides?.requester.leave(id)
  }

  /**
   * Subscribes to some or all partitions of a stream. Resolves when the node has joined them; `waitForNeighbours` of the
   * subscription resolves when there is a neighbour. Messages go to the callback, or else to the iteration over the subscription.
   * A consumer that is too slow loses its oldest messages, with a status and a counter. `T` is what content is: what `schema` gives, or
   * else what the application expects, unchecked.
   *
   * `0xowner/sensors/#` is `0xowner/sensors` and all streams below it that the user may read, `0xowner/#` all of an owner: those that
   * there are, and those that are created or permitted later, up to `maxStreams`. The statuses 'prefix' and 'prefix-full' say which.
   */
  async subscribe<T = unknown>(
    streamId: string,
    options: SubscribeOptions<T> = {},
    onMessage?: OnMessage<T>,
  ): Promise<Subscription<T>> {
    this.#requireMember()
    // With a schema content is what that gives; without one the application says what it expects.
    const given = onMessage as OnMessage | undefined
    if (streamId.endsWith('/#'))
      return (await this.#subscribePrefix(streamId, options, given)) as Subscription<T>
    const id = this.streamId(streamId)
    const subscription = await this.#subscriber.subscribe(id, options, given)
    this.#attend(id)
    return subscription as Subscription<T>
  }

  /**
   * Asks in a stream, and resolves to the first reply: an ordinary message that `respond` of others answers. Only this client can read the
   * reply, which its responder signed. Needs publish. Throws REQUEST_TIMEOUT after `timeoutMs` (default 5,000), NO_RESPONDER where nobody else
   * is in the stream, REQUEST_FAILED where the responder failed, REPLY_UNREADABLE, TOO_MANY_REQUESTS, ABORTED, and what `publish` throws.
   */
  async request<T = unknown>(
    streamId: string,
    content: unknown,
    options: RequestOptions<T> = {},
  ): Promise<Reply<T>> {
    this.#requireMember()
    const { requester } = await this.#loadSides()
    return (await requester.one(this.streamId(streamId), content, options)) as Reply<T>
  }

  /** As `request`, of several responders: replies as they come, until `timeoutMs` are over or `maxReplies` came. A failure is a reply, too. */
  async *requestMany<T = unknown>(
    streamId: string,
    content: unknown,
    options: RequestManyOptions<T> = {},
  ): AsyncGenerator<Reply<T> | FailedReply, void, undefined> {
    this.#requireMember()
    const { requester } = await this.#loadSides()
    const replies = requester.many(this.streamId(streamId), content, options)
    yield* replies as AsyncGenerator<Reply<T> | FailedReply, void, undefined>
  }

  /**
   * Answers requests in a stream from now on: up to 100 are handled at once, each with what the handler returns, or not at all where that is
   * undefined. What it throws is told to the asker, and a status 'callback-failed'. Throws what `subscribe` throws.
   */
  async respond<T = unknown>(
    streamId: string,
    handler: RequestHandler<T>,
    options: RespondOptions<T> = {},
  ): Promise<Responding> {
    this.#requireMember()
    const id = this.streamId(streamId)
    const sides = await this.#loadSides()
    const responding = await sides.respond(id, handler as RequestHandler, options)
    this.#encryption.attend(id).catch(() => {})
    return responding
  }

  /**
   * Watches who is in a stream: members that want to be seen, as `presence.enter` makes this client. Joins are announced at once, leaves
   * within ten seconds, and who goes silently is lost within thirty. Needs publish or subscribe. Throws STREAM_NOT_FOUND,
   * NO_SUBSCRIBE_PERMISSION, ABORTED, and with `as` what `enter` throws.
   */
  async presence(streamId: string, options: PresenceOptions = {}): Promise<Presence> {
    this.#requireMember()
    return (await this.#loadSides()).presences.open(this.streamId(streamId), options)
  }

  /**
   * How many nodes are in a stream, as its trackers know: without names, and whether or not they want to be seen. Of the partitions that
   * this client is in, because it subscribes or publishes there. Throws STREAM_NOT_JOINED, ABORTED, and of `networkErrors`
   * COUNT_UNAVAILABLE in a light client and where a tracker does not count, TRACKER_LOST and NOT_JOINED.
   */
  async count(streamId: string, options: CountOptions = {}): Promise<StreamCount> {
    this.#requireMember()
    return (await this.#loadSides()).count(this.streamId(streamId), options)
  }

  /**
   * Reads a stream at least once, also across crashes: storage nodes keep what of it was acknowledged, under a name, for this user. An async
   * iterable of messages, each with `ack()`. With `group` several processes of the user share the messages, and what one of them leaves the
   * others take over. Needs a storage node. Throws NO_STORAGE_NODE, READER_GROUP_FULL, NOT_STORED_IN_TIME, INVALID_ARGUMENT, and what
   * `resend` throws; the iteration throws when the user may not read any more.
   */
  async reader<T = unknown>(streamId: string, options: ReaderOptions<T>): Promise<DurableReader<T>> {
    this.#requireMember()
    const id = this.streamId(streamId)
    const { readers } = await this.#loadSides()
    const reader = await readers.open(id, options as ReaderOptions)
    this.#attend(id)
    return reader as DurableReader<T>
  }

  /** What storage nodes have of a durable reader of this user; undefined where they have nothing. Throws what `resend` throws. */
  async readerState(streamId: string, name: string): Promise<StoredReader | undefined> {
    this.#requireMember()
    return (await this.#loadSides()).readers.show(this.streamId(streamId), name)
  }

  /**
   * Puts a durable reader of this user elsewhere, back or ahead; members that run go on from there, and what they are at is not counted. Throws
   * NOT_STORED_IN_TIME, and what `resend` throws.
   */
  async resetReader(streamId: string, name: string, start: ReaderStart): Promise<void> {
    this.#requireMember()
    await (await this.#loadSides()).readers.reset(this.streamId(streamId), name, start)
  }

  /**
   * Follows how much this client may publish urgently in a partition: the rate of its links to those who get it, for encoders. Joins nothing:
   * the first message does. Throws STREAM_NOT_FOUND, NO_PUBLISH_PERMISSION, PARTITION_OUT_OF_RANGE, ABORTED, and what the registry throws.
   */
  async urgentRate(streamId: string, options: UrgentRateOptions = {}): Promise<UrgentRate> {
    this.#requireMember()
    const { partition = 0, signal } = options
    throwIfAborted(signal)
    const stream = await requirePermission('publish', this.streamId(streamId), this.#shared)
    const streamPartId = toStreamPartId(stream.id, checkPartition(partition, stream))
    const { UrgentRate } = await import('./publish/urgent-rate.ts')
    throwIfAborted(signal)
    const { userId, network: node } = this
    const rate = new UrgentRate(streamPartId, { node, userId, status: this.#status })
    for (const end of [signal, this.#history.closing])
      end?.addEventListener('abort', () => rate.close(), { once: true })
    return rate
  }

  /**
   * Stored messages of a stream: the last `n`, or all from a given time or place on. An async iterable: verified, in order of
   * time, each message once; read from up to three storage nodes at once as it is taken. `last` is exact up to 10,000; for more,
   * or when storage nodes differ or fail meanwhile, a few extra may come. Throws, with the first message or later,
   * INVALID_RESEND, NO_STORAGE_NODE, RESEND_FAILED, RESEND_DENIED, STREAM_NOT_FOUND, NO_SUBSCRIBE_PERMISSION, ABORTED, or what
   * the registry throws.
   */
  resend<T = unknown>(
    streamId: string,
    selection: HistorySelection,
    options: ResendOptions<T> = {},
  ): AsyncGenerator<Message<T>, void, undefined> {
    return this.#resend(streamId, selection, options) as AsyncGenerator<Message<T>, void, undefined>
  }

  /**
   * Records the urgent messages of a stream, which nobody stores, as content of an ordinary one, until it is stopped: as they were signed, so that
   * `resend` and `playback` with `recording: true` give what their publishers said. Needs subscribe there and publish here. Throws
   * STREAM_NOT_FOUND, NO_SUBSCRIBE_PERMISSION, NO_PUBLISH_PERMISSION, PARTITION_OUT_OF_RANGE, ABORTED, and what the registry throws.
   */
  async record(from: string, to: string, options: RecordOptions = {}): Promise<Recording> {
    this.#requireMember()
    throwIfAborted(options.signal)
    const { record } = await import('./record/recorder.ts')
    const modules = { ...this.#shared, publisher: this.#publisher }
    const recording = await record(this.streamId(from), this.streamId(to), options, modules)
    for (const end of [options.signal, this.#history.closing])
      end?.addEventListener('abort', () => void recording.stop(), { once: true })
    return recording
  }

  /**
   * The newest message of a key, or of the whole stream, checked: from this node or from up to three neighbours at once, else from storage
   * nodes; undefined where none is known, or the key was removed. Joins where it is not joined, and leaves some seconds later. Neighbours
   * know what came in the last 30 s, and more where the stream's metadata has `lastValues: true`. Throws STREAM_NOT_FOUND,
   * NO_SUBSCRIBE_PERMISSION, PARTITION_OUT_OF_RANGE, INVALID_MESSAGE_KEY, ABORTED, what opening the content throws, or what the registry
   * throws.
   */
  async last<T = unknown>(streamId: string, options: LastOptions<T> = {}): Promise<Message<T> | undefined> {
    this.#requireMember()
    const values = await this.#latestValues()
    return (await values.last(this.streamId(streamId), options)) as Message<T> | undefined
  }

  /**
   * The stream as a table: the newest message of each key, from up to three storage nodes, checked; partition after partition, in the order
   * of their times, without keys that were removed. An async iterable. Throws what `resend` throws.
   */
  table<T = unknown>(
    streamId: string,
    options: TableOptions<T> = {},
  ): AsyncGenerator<Message<T>, void, undefined> {
    return this.#table(streamId, options) as AsyncGenerator<Message<T>, void, undefined>
  }

  /** Stored messages at the pace they were published at, or a multiple of it; throws what `resend` throws. */
  playback<T = unknown>(
    streamId: string,
    selection: HistorySelection,
    options: PlaybackOptions<T> = {},
  ): Playback<T> {
    const { speed = 1, signal, ...rest } = options
    const { closing } = this.#history
    const untilEnded = signal === undefined ? closing : AbortSignal.any([signal, closing])
    const read: ReadFrom = (wanted, ending) =>
      this.#resend(streamId, wanted, { ...rest, signal: AbortSignal.any([untilEnded, ending]) })
    const modules = { read, clock: this.#clock, signal: untilEnded }
    return new PacedPlayback({ selection, speed }, modules) as Playback as Playback<T>
  }

  /**
   * Waits until `count` (default 1) storage nodes have each of the messages durably: what `publish` resolves with, or
   * messages that were delivered. Throws NO_STORAGE_NODE, NOT_STORED_IN_TIME after `timeoutMs` (default 30,000),
   * STREAM_NOT_FOUND, INVALID_ARGUMENT or ABORTED.
   */
  async waitForStorage(
    messages: MessagePlace | readonly MessagePlace[],
    options: WaitForStorageOptions = {},
  ): Promise<void> {
    this.#requireOpen()
    await this.#waiter.wait(messages, options)
  }

  /**
   * What one storage node has of a stream part: batches as they were published, unchecked. For storage nodes, which copy
   * from each other; `resend` is for applications. Throws STREAM_NOT_FOUND, and what `readStorageNode` throws.
   */
  async *readStorageNode(
    nodeId: string,
    part: StoredPart,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const stream = await this.getStream(parseStreamPartId(part.streamPartId).streamId)
    yield* readStorageNode(stream, toNodeId(nodeId), part, signal, this.#history)
  }

  /**
   * Whether this client may take part in the network: not where a private one does not list its user, or its delegation was taken
   * back. While it may not, the node has no links; publish, subscribe and resend throw `admissionProblem`. The status 'admission'
   * tells when that changes.
   */
  get isListed(): boolean {
    return this.admissionProblem === undefined
  }

  /** Why this client may not take part in the network: NODE_NOT_LISTED or DELEGATION_REVOKED; undefined when it may. */
  get admissionProblem(): RunnelError | undefined {
    return this.#registry.admission.problemOf(this.userId, this.#user.delegation)
  }

  /** How each of several endpoints of the chain does, by its URL without secrets; none where there is one only. */
  get chainEndpoints(): readonly RpcStatus[] {
    return this.#registry.endpoints
  }

  /** What happens from now on, until the client is closed or the loop is left. */
  status(): AsyncIterableIterator<ClientStatus, undefined> {
    return this.#status.listen()
  }

  /** When the client reached each step on its way to the first message; the status 'phase' tells of each. */
  get phases(): PhaseTimes {
    return this.#phases.times
  }

  /** Sizes and losses of the client itself; those of the node are in `network.metrics()`. */
  counters(): Readonly<Record<string, number>> {
    const { cache, delegations } = this.#registry
    return {
      ...cache.counters(),
      ...delegations.counters(),
      ...this.#history.counters(),
      ...this.#archive.counters(),
    }
  }

  /**
   * Refuses new calls, waits until published messages are sent, and until what opens them is stored, or those who are there have
   * asked for it (at most `closeTimeoutMs`); then ends subscriptions and statuses after their queued items, leaves the network and
   * stops. Idempotent.
   */
  close(): Promise<ClientClosed> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Resolves when the client is closed. */
  closed(): Promise<ClientClosed> {
    return this.#closed.promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<ClientClosed> {
    const { signal, end } = deadline(this.#clock, this.#closeTimeoutMs)
    const unsentMessages = await this.#publisher.drain(signal)
    this.#publisher.close()
    this.#sides?.presences.close()
    await this.#sides?.readers.close()
    await this.#encryption.finish(signal)
    end()
    this.#history.close()
    this.#encryption.close()
    await this.#subscriber.close()
    this.#rights.close()
    this.#user.stop()
    await this.network.stop()
    this.#verification?.stop()
    await this.#registry.stop()
    this.#status.close()
    const closed: ClientClosed = { unsentMessages }
    this.#closed.resolve(closed)
    return closed
  }

  async #subscribePrefix(
    prefix: string,
    options: SubscribeOptions,
    onMessage: OnMessage | undefined,
  ): Promise<Subscription> {
    const inbox = this.#subscriber.createInbox(options)
    const { subscribePrefix, parsePrefix } = await import('./subscribe/prefix/subscribe-prefix.ts')
    const histories = new Slots(resendLimits.maxHistoriesOfPrefix)
    return subscribePrefix(parsePrefix(prefix, this.account), options, onMessage, {
      histories,
      ...{ client: this, inbox, clock: this.#clock, status: this.#status, closing: this.#history.closing },
      open: async (to, streamId, chosen) => {
        const subscription = await this.#subscriber.subscribeInto(to, streamId, chosen)
        this.#attend(streamId)
        return subscription
      },
    })
  }

  /** What fails now is done again with the first message that needs it, and reported. */
  #attend(streamId: StreamId): void {
    this.#encryption.attend(streamId).catch(() => {})
  }

  async #loadSides(): Promise<SideServices> {
    this.#loadingSides ??= import('./side/side-services.ts').then(
      ({ SideServices }) => (this.#sides = new SideServices(this.#sideModules)),
      (error: unknown) => {
        // A page may be without a network just now.
        this.#loadingSides = undefined
        throw error
      },
    )
    const sides = await this.#loadingSides
    this.#requireOpen()
    return sides
  }

  /** The permission is given, whether or not keys can be: the user asks for them when it comes. */
  async #shareKeys(streamId: StreamId, user: NodeId, card: Card | undefined): Promise<void> {
    try {
      await this.#encryption.share(streamId, user, card)
    } catch (error) {
      if (!isRunnelError(error)) throw error
      this.#status.emit({ type: 'encryption', streamId, state: 'unshared', error })
    }
  }

  async *#table(streamId: string, options: TableOptions): AsyncGenerator<Message, void, undefined> {
    this.#requireMember()
    const values = await this.#latestValues()
    yield* values.table(this.streamId(streamId), options)
  }

  /** Loaded when it is used: few pages need it. */
  #latestValues(): Promise<LatestValues> {
    this.#latest ??= import('./latest/last.ts').then(
      ({ LatestValues }) => new LatestValues(latestLimits, this.#shared),
    )
    return this.#latest
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw clientError('CLIENT_CLOSED')
  }

  #requireAccount(): void {
    this.#requireOpen()
    if (!this.#hasAccount) throw clientError('NO_USER_KEY', this.userId)
  }

  #requireMember(): void {
    this.#requireOpen()
    if (this.#replaced !== undefined) throw this.#replaced
    const problem = this.admissionProblem
    if (problem !== undefined) throw problem
  }

  async *#resend(
    streamId: string,
    selection: HistorySelection,
    options: ResendOptions,
  ): AsyncGenerator<Message, void, undefined> {
    this.#requireMember()
    const { recording = false, raw, schema, asBytes, ...rest } = options
    const id = this.streamId(streamId)
    if (!recording) return yield* resend(id, selection, options, this.#shared)
    const { readRecording } = await import('./record/read-recording.ts')
    const recorded = resend(id, selection, { ...rest, asBytes: true }, this.#shared)
    const { onUndecodable } = rest
    const modules = { ...this.#shared, check: this.#history.check }
    yield* readRecording(recorded, { raw, schema, asBytes, onUndecodable }, modules)
  }

  /** Before the node starts, so that nothing is missed. */
  #listen(parts: StreamParts, logger: Logger): void {
    const status = this.#status
    this.#phases.onReached = (phase, afterMs) => status.emit({ type: 'phase', phase, afterMs })
    this.network.on('message', (delivery) => {
      if (delivery.from !== undefined) this.#phases.reach('message')
      this.#subscriber.receive(delivery)
      this.#encryption.receive(delivery.message)
      this.#sides?.receive(delivery.message)
    })
    this.network.on('gap', (gap) => this.#subscriber.gap(gap))
    this.network.on('equivocation', (equivocation) => {
      const { publisherId } = equivocation.winner.chain
      const { streamPartId, place } = equivocation
      logger.warn({ publisherId, streamPartId, ...place }, 'a publisher signed two messages for one place')
      this.#subscriber.equivocation(equivocation)
    })
    this.network.on('neighbours', (streamPartId, neighbours) => {
      if (neighbours.length > 0) this.#phases.reach('neighbour')
      parts.neighboursChanged(streamPartId, neighbours)
      status.emit({ type: 'neighbours', streamPartId, neighbours })
    })
    this.network.on('host', ({ url, nodeId, state, error }) => {
      const isWell = state === 'connected'
      logger[isWell ? 'info' : 'warn']({ url, nodeId, state, code: error?.code }, error?.message ?? 'host')
      status.emit({ type: 'host', url, nodeId, state, error })
    })
    this.network.on('withheld', (withheld) => {
      const { streamPartId, hostId, messages, deliveredBy } = withheld
      logger.warn(
        { streamPartId, hostId, messages, deliveredBy },
        'a host did not bring messages that others did',
      )
      status.emit({ type: 'withheld', ...toMessagesWithheld(withheld) })
    })
    this.network.on('replaced', (error) => {
      this.#replaced = error
      logger.error({ nodeId: this.nodeId, code: error.code }, `${error.message}. ${error.remedy}`)
      status.emit({ type: 'replaced', error })
    })
    this.network.on('tracker', (trackerId, state, error) => {
      logger.info({ trackerId, state, code: error?.code }, 'tracker')
      if (state === 'connected') this.#phases.reach('tracker')
      status.emit({ type: 'tracker', trackerId, state, ...(error === undefined ? {} : { error }) })
    })
    this.network.on('dropped', (counter, detail) => status.emit({ type: 'dropped', counter, detail }))
    this.#followDelegation(logger)
    this.#followAdmission(logger)
    this.#registry.readerPolicy.onChange((streamId) => this.#rights.lookAgain(streamId))
    this.#registry.onChange = (change) => {
      this.#encryption.apply(change)
      if (change.kind === 'delegations' && change.userId === this.userId && 'begunByMs' in change)
        this.#user.endedUntil(change.begunByMs)
      status.emit({ type: 'registry', change })
    }
    this.#registry.onHealth = (health) => status.emit({ type: 'chain', ...health })
    this.#registry.onEndpoint = (endpoint) => status.emit({ type: 'endpoint', ...endpoint })
    this.#registry.onTrackers = (listed) => status.emit({ type: 'trackers', ...listed })
  }

  /** The node sends it along with what is signed under it. */
  #followDelegation(logger: Logger): void {
    const { network } = this
    const user = this.#user
    const taken = () => {
      if (user.delegation === undefined) return
      network.delegations.add(user.delegation)
      this.#rights.lookAgain()
    }
    taken()
    user.onChange(taken)
    user.onNews = (news) => {
      const { error, ...said } = news
      if (news.state === 'renewed') logger.info(said, 'the delegation is renewed')
      else logger.warn({ ...said, reason: error && reasonOf(error) }, `the delegation is ${news.state}`)
      this.#status.emit({ type: 'delegation', ...news })
    }
  }

  #followAdmission(logger: Logger): void {
    const { userId } = this
    const { admission } = this.#registry
    let problem = this.admissionProblem
    const say = () => {
      if (problem === undefined) logger.info({ userId }, 'the private network lists this user')
      else logger.warn({ userId, code: problem.code }, problem.message)
    }
    if (problem !== undefined) say()
    admission.onChange(() => {
      const now = this.admissionProblem
      if (now?.code === problem?.code) return
      problem = now
      say()
      const isListed = problem === undefined
      this.#status.emit({ type: 'admission', isListed, ...(problem && { error: problem }) })
    })
  }
}
