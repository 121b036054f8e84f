import type { RpcStatus } from '@runnel/contracts'
import type { HostView, NetworkNode, PublisherPolicy } from '@runnel/network'
import {
  keyPartition,
  parseStreamPartId,
  toNodeId,
  type Card,
  type DelegationHistory,
  type NodeId,
  type ReaderPolicy,
  type RunnelError,
  type StreamId,
  type VerificationPool,
} from '@runnel/protocol'
import { createServices, type ClientServices, type RunnelClientModules } from './client-services.ts'
import type { ClientClosed } from './closing.ts'
import type { ParsedClientConfig } from './config.ts'
import { checkedKey } from './content/message-key.ts'
import { throwIfAborted } from './deadline.ts'
import type { Cards } from './encryption/ports.ts'
import type { RotatedKeys, StreamKeys } from './encryption/stream-keys.ts'
import { clientError, streamNotFound } from './errors.ts'
import type { Gate } from './gate.ts'
import type { LastOptions, TableOptions } from './latest/last.ts'
import { requirePermission } from './permission.ts'
import type { PhaseTimes } from './phases.ts'
import type { CountOptions, StreamCount } from './presence/count.ts'
import type { Presence, PresenceOptions } from './presence/presence.ts'
import type { PreparedMessage, PublishedMessage } from './publish/part-outbox.ts'
import { checkPartition } from './publish/partition.ts'
import { publishMany, type PublishedMany, type PublishManyOptions } from './publish/publish-many.ts'
import type { PrepareOptions, PublishOptions } from './publish/publisher.ts'
import type { UrgentRate, UrgentRateOptions } from './publish/urgent-rate.ts'
import type { DurableReader } from './reader/durable-reader.ts'
import type { ReaderOptions, ReaderStart } from './reader/reader-options.ts'
import type { StoredReader } from './reader/readers.ts'
import type { RecordOptions, Recording } from './record/recorder.ts'
import type { Permissions, StorageNodeInfo, StreamInfo, UserPermissions } from './registry/ports.ts'
import { isTrackerUrl } from './registry/tracker-url.ts'
import type { RelayedBatch } from './relay/batch-relay.ts'
import type { FailedReply, Reply } from './request/pending-request.ts'
import type { RequestManyOptions, RequestOptions } from './request/requester.ts'
import type { RequestHandler, RespondOptions, Responding } from './request/responder.ts'
import type { Playback, PlaybackOptions } from './resend/playback.ts'
import { readStorageNode, type StoredPart } from './resend/read-storage-node.ts'
import type { ResendOptions } from './resend/resend.ts'
import type { HistorySelection } from './resend/selection.ts'
import type { MessagePlace, WaitForStorageOptions } from './resend/wait-for-storage.ts'
import type { ClientStatus } from './status.ts'
import type { StreamFilter } from './streams/find-streams.ts'
import type { GrantOptions, NewStream, RevokeOptions, StreamUpdate } from './streams/stream-changes.ts'
import type { OnMessage } from './subscribe/inbox.ts'
import type { Message } from './subscribe/message.ts'
import type { SubscribeOptions } from './subscribe/subscriber.ts'
import type { Subscription } from './subscribe/subscription.ts'

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
  readonly #gate: Gate
  readonly #services: ClientServices

  constructor(config: ParsedClientConfig, modules: RunnelClientModules) {
    const services = createServices(config, modules)
    this.userId = services.userId
    this.nodeId = services.nodeId
    this.chainId = services.registry.chainId
    this.network = services.node
    this.cards = services.cards
    this.#gate = services.gate
    this.#services = services
  }

  /** The id of a stream: `0xowner/path`, or `/path` for one of `account`'s. Throws INVALID_STREAM_ID. */
  streamId(text: string): StreamId {
    return this.#gate.streamId(text)
  }

  /** Of a light client: the hosts that it is linked to, and what they did, the preferred first. */
  get hosts(): readonly HostView[] {
    return this.network.hosts
  }

  /** In whose name registries are changed: the address of the wallet, or of the user. */
  get account(): NodeId {
    return this.#gate.account
  }

  /** Creates a stream under the client's account, and resolves when it can be used. Throws STREAM_EXISTS, NOT_STREAM_OWNER, REGISTRY_REFUSED and what a chain throws. */
  async createStream(stream: NewStream): Promise<StreamInfo> {
    this.#gate.requireAccount()
    return (await this.#services.streams.get()).create(stream)
  }

  /** Throws STREAM_NOT_FOUND, or what a chain throws when nothing is known. */
  async getStream(streamId: string): Promise<StreamInfo> {
    const stream = await this.#services.cache.getStream(this.#gate.open(streamId))
    if (stream === undefined) throw streamNotFound(streamId)
    return stream
  }

  /**
   * Changes partitions, metadata or trackers of a stream; what is not named stays as it is. Needs the edit permission. Messages are not
   * moved: with other partitions the same key may go to another one. Throws what `createStream` throws.
   */
  async updateStream(streamId: string, update: StreamUpdate): Promise<void> {
    const id = this.#gate.owner(streamId)
    await (await this.#services.streams.get()).update(id, update)
  }

  /** All streams, or those that match, ordered by id; read from the registry each time. Throws INVALID_ARGUMENT and INVALID_NODE_ID. */
  async listStreams(filter: StreamFilter = {}): Promise<readonly StreamInfo[]> {
    this.#gate.requireOpen()
    return (await this.#services.streams.get()).list(filter)
  }

  /** Deletes a stream and every permission on it. */
  async deleteStream(streamId: string): Promise<void> {
    await this.#services.registry.writer.deleteStream(this.#gate.owner(streamId))
  }

  /**
   * Gives permissions to a user or to the public; permissions not named stay unchanged. Only publish and subscribe can be public
   * or expire. Who may subscribe to an encrypted stream is passed the keys that this client can read, and waits for nobody then; where that
   * fails the status 'encryption' says so. Throws also INVALID_ARGUMENT, CARD_OF_OTHER_USER, and what `checkCard` throws.
   */
  async grant(streamId: string, grant: GrantOptions): Promise<void> {
    const id = this.#gate.owner(streamId)
    await (await this.#services.streams.get()).grant(id, grant)
  }

  /** Takes permissions away; public permissions still apply to the user. */
  async revoke(streamId: string, revoked: RevokeOptions): Promise<void> {
    const id = this.#gate.owner(streamId)
    await (await this.#services.streams.get()).revoke(id, revoked)
  }

  /**
   * Ends every delegation of `account` to a delegate, for ever: within seconds nodes take nothing more from the processes that act
   * with that key. What they published before stays valid in history. Throws what `revoke` throws, and REGISTRY_OUTDATED.
   */
  async revokeDelegate(delegateId: string): Promise<void> {
    this.#gate.requireOpen()
    await this.#services.registry.delegationWriter.revokeDelegate(toNodeId(delegateId))
  }

  /**
   * Ends every delegation of `account` that began until now, by this machine's clock, as `revokeDelegate` does. Later ones are good:
   * processes that have the user's key go on, others with one from before need another.
   */
  async revokeDelegations(): Promise<void> {
    this.#gate.requireOpen()
    await this.#services.registry.delegationWriter.revokeDelegations(this.#services.clock.now())
  }

  /**
   * Has the user read with its next reading key from now on: signs a card for it, which storage nodes keep. What was encrypted before stays
   * readable with the key before, also for whoever has stolen that. Throws NO_STORAGE_NODE, READING_KEY_CHANGED, and NO_READING_KEY or
   * READING_KEY_OTHER_GENERATION where the key was given to this client.
   */
  async renewReadingKey(signal: AbortSignal = this.#services.closing): Promise<Card> {
    this.#gate.requireMember()
    return this.#services.encryption.renewCard(signal)
  }

  /**
   * Has storage nodes keep the user's card, so that whoever gives it a permission can give it the keys as well; done by itself when the
   * user first reads something encrypted. A user of a wallet is asked to sign, also one that refused
   * before. Throws NO_READING_KEY, READING_KEY_CHANGED, CARD_NEEDS_USER,
   * CARD_NOT_KEPT, CARDS_UNAVAILABLE, or what signing throws.
   */
  async ensureCard(signal: AbortSignal = this.#services.closing): Promise<Card> {
    this.#gate.requireMember()
    return this.#services.encryption.ensureCard(signal)
  }

  /**
   * Whether a stream is encrypted, whose keys are in use, and which readers find them with nobody there. No secrets. Needs publish, subscribe
   * or grant. Throws STREAM_NOT_FOUND, NO_SUBSCRIBE_PERMISSION, and what the registry throws.
   */
  async keysOf(streamId: string): Promise<StreamKeys> {
    return this.#services.keys.of(this.#gate.member(streamId))
  }

  /**
   * Makes a new key now: for what this user publishes, or for the whole stream where it is the key holder. Processes of the user that run
   * (unless the stream has no history for newcomers), and publishers that use the holder's keys, go over to it. What is older stays
   * readable. Throws NOT_ENCRYPTED, NOT_KEY_HOLDER, NO_PUBLISH_PERMISSION, STREAM_NOT_FOUND, and what the registry throws.
   */
  async rotateKeys(streamId: string): Promise<RotatedKeys> {
    return this.#services.keys.rotate(this.#gate.member(streamId))
  }

  /**
   * As the key holder of a stream, has a valid key ready for all its publishers until this client closes: a new one when a reader goes, or the
   * key gets old. Resolves when there is one. The status 'encryption' tells when there cannot be one later. Throws NOT_KEY_HOLDER,
   * KEYS_UNCERTAIN, STREAM_NOT_FOUND, and what the registry throws.
   */
  async holdKeys(streamId: string): Promise<void> {
    await this.#services.encryption.hold(this.#gate.member(streamId))
  }

  /** The permissions on a stream by user, the public ones first; read from the registry each time. Throws STREAM_NOT_FOUND. */
  async getPermissions(streamId: string): Promise<readonly UserPermissions[]> {
    const { id } = await this.getStream(streamId)
    return (await this.#services.registry.permissionTable(id)).entries
  }

  /** The permissions of a user on a stream, public or their own; from the cached registry. */
  async permissionsOf(streamId: string, user: string): Promise<Permissions> {
    return this.#services.cache.permissionsOf(this.#gate.open(streamId), toNodeId(user))
  }

  /** Who may publish, and under which delegations; from the cached registry. For storage nodes, which check what others give them. */
  get publisherPolicy(): PublisherPolicy {
    return this.#services.registry.publisherPolicy
  }

  /** When delegations were taken back; from the cached registry. For storage nodes, which check what others give them. */
  get delegationHistory(): DelegationHistory {
    return this.#services.registry.delegations
  }

  /** The threads that check signatures beside this one; undefined where there are none. For storage nodes, which check what others give them. */
  get verification(): VerificationPool | undefined {
    return this.#services.verification
  }

  /** Who may read, and under which delegations; from the cached registry. For storage nodes, which check who asks them. */
  get readerPolicy(): ReaderPolicy {
    return this.#services.registry.readerPolicy
  }

  /**
   * Throws unless a card is good now and its user's: CARD_OTHER_CHAIN, CARD_NOT_YET, CARD_FORGED, CONTRACT_NEEDS_CHAIN, or what the chain
   * throws. For storage nodes, which check what others give them.
   */
  async checkCard(card: Card): Promise<void> {
    await this.#services.keys.checkCard(card)
  }

  /** The storage nodes assigned to a stream; from the cached registry. Throws STREAM_NOT_FOUND. */
  async getStorageNodes(streamId: string): Promise<readonly StorageNodeInfo[]> {
    const { id } = await this.getStream(streamId)
    return this.#services.cache.storageNodesOf(id)
  }

  /** All storage nodes of the network, ordered by id; read from the registry each time. */
  async listStorageNodes(): Promise<readonly StorageNodeInfo[]> {
    this.#gate.requireOpen()
    return this.#services.registry.listStorageNodes()
  }

  /** The streams assigned to a storage node, ordered by id; read from the registry each time. */
  async streamsStoredBy(nodeId: string): Promise<readonly StreamId[]> {
    this.#gate.requireOpen()
    return this.#services.registry.streamsStoredBy(toNodeId(nodeId))
  }

  /** Has a registered storage node keep a stream. Needs the edit permission on it. */
  async addToStorageNode(streamId: string, nodeId: string): Promise<void> {
    const id = this.#gate.owner(streamId)
    await this.#services.registry.storageWriter.assign(id, toNodeId(nodeId))
  }

  /** Has a storage node keep a stream no longer. */
  async removeFromStorageNode(streamId: string, nodeId: string): Promise<void> {
    const id = this.#gate.owner(streamId)
    await this.#services.registry.storageWriter.unassign(id, toNodeId(nodeId))
  }

  /** Registers the account as a storage node, or changes where it is reached: a ws:// or wss:// URL. Its node needs that key. */
  async registerStorageNode(url: string): Promise<void> {
    this.#gate.requireAccount()
    if (!isTrackerUrl(url)) throw clientError('INVALID_ARGUMENT', 'a storage node has a ws:// or wss:// URL')
    await this.#services.registry.storageWriter.register(url)
  }

  /**
   * Takes part in a stream part without subscribing: messages flood through, and `network.on('batch')` reports them. Needs no
   * permission; meant for storage nodes. Partition 100 is the stream's key part. The returned function leaves again; it is idempotent. Throws STREAM_NOT_FOUND or
   * PARTITION_OUT_OF_RANGE.
   */
  async joinStreamPart(streamId: string, partition: number): Promise<() => void> {
    const stream = await this.getStream(streamId)
    this.#gate.requireOpen()
    const isOfKeys = partition === keyPartition
    return this.#services.parts.join(stream, isOfKeys ? partition : checkPartition(partition, stream))
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
    return this.#services.publisher.publish(this.#gate.member(streamId), content, options)
  }

  /**
   * Makes an urgent message ready, sealed and signed, that leaves within the call of `send`: for what a page says while it is closed, when
   * nothing is done any more that takes another turn. It is of this moment: make it anew every few seconds, as nodes take what is
   * hundreds of urgent messages old for known. Throws what `publish` throws.
   */
  async prepare(streamId: string, content: unknown, options: PrepareOptions): Promise<PreparedMessage> {
    return this.#services.publisher.prepare(this.#gate.member(streamId), content, options)
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
    const to = { streamId: this.#gate.member(streamId), key, options }
    return publishMany(contents, to, this.#services.publisher)
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
    const id = this.#gate.member(streamId)
    return this.#services.publisher.publish(id, null, { ...options, key: checkedKey(key) }, true)
  }

  /**
   * Passes on a batch that somebody else signed, such as a device that keeps its own key: checked as batches from the network are, and
   * flooded as it is. `delegation` is what it is signed under, where that is not known here. The user of this client must be able to read
   * the stream. Throws BATCH_FORGED, NO_PUBLISH_PERMISSION, TIMESTAMP_OUT_OF_BOUNDS, STREAM_NOT_FOUND,
   * PARTITION_OUT_OF_RANGE, MALFORMED_PACKET, and what the registry throws.
   */
  async relay(batchBytes: Uint8Array, delegation?: Uint8Array): Promise<RelayedBatch> {
    this.#gate.requireMember()
    return (await this.#services.relay.get()).relay(batchBytes, delegation)
  }

  /** Resolves when `publish` can take many more messages: await it now and then instead of each `publish`. */
  async writable(): Promise<void> {
    this.#gate.requireOpen()
    await this.#services.publisher.room()
  }

  /**
   * Leaves the stream parts that were joined for publishing to a stream, when nothing else keeps them joined. Resolves when
   * all messages published there before are handed over. The next message joins again, and goes on where the last one was.
   */
  async stopPublishing(streamId: string): Promise<void> {
    const { publisher, sides } = this.#services
    const id = this.#gate.open(streamId)
    await publisher.leave(id)
    sides.now?.requester.leave(id)
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
    this.#gate.requireMember()
    // With a schema content is what that gives; without one the application says what it expects.
    const given = onMessage as OnMessage | undefined
    if (streamId.endsWith('/#')) {
      const { subscribePrefix } = await import('./subscribe/prefix/subscribe-prefix.ts')
      const modules = { ...this.#services, client: this, account: this.account }
      return (await subscribePrefix(streamId, options, given, modules)) as Subscription<T>
    }
    const id = this.streamId(streamId)
    const subscription = await this.#services.subscriber.subscribe(id, options, given)
    this.#services.keys.attend(id)
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
    const id = this.#gate.member(streamId)
    const { requester } = await this.#services.sides.get()
    return (await requester.one(id, content, options)) as Reply<T>
  }

  /** As `request`, of several responders: replies as they come, until `timeoutMs` are over or `maxReplies` came. A failure is a reply, too. */
  async *requestMany<T = unknown>(
    streamId: string,
    content: unknown,
    options: RequestManyOptions<T> = {},
  ): AsyncGenerator<Reply<T> | FailedReply, void, undefined> {
    const id = this.#gate.member(streamId)
    const { requester } = await this.#services.sides.get()
    const replies = requester.many(id, content, options)
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
    const id = this.#gate.member(streamId)
    const sides = await this.#services.sides.get()
    const responding = await sides.respond(id, handler as RequestHandler, options)
    this.#services.keys.attend(id)
    return responding
  }

  /**
   * Watches who is in a stream: members that want to be seen, as `presence.enter` makes this client. Joins are announced at once, leaves
   * within ten seconds, and who goes silently is lost within thirty. Needs publish or subscribe. Throws STREAM_NOT_FOUND,
   * NO_SUBSCRIBE_PERMISSION, ABORTED, and with `as` what `enter` throws.
   */
  async presence(streamId: string, options: PresenceOptions = {}): Promise<Presence> {
    const id = this.#gate.member(streamId)
    return (await this.#services.sides.get()).presences.open(id, options)
  }

  /**
   * How many nodes are in a stream, as its trackers know: without names, and whether or not they want to be seen. Of the partitions that
   * this client is in, because it subscribes or publishes there. Throws STREAM_NOT_JOINED, ABORTED, and of `networkErrors`
   * COUNT_UNAVAILABLE in a light client and where a tracker does not count, TRACKER_LOST and NOT_JOINED.
   */
  async count(streamId: string, options: CountOptions = {}): Promise<StreamCount> {
    const id = this.#gate.member(streamId)
    return (await this.#services.sides.get()).count(id, options)
  }

  /**
   * Reads a stream at least once, also across crashes: storage nodes keep what of it was acknowledged, under a name, for this user. An async
   * iterable of messages, each with `ack()`. With `group` several processes of the user share the messages, and what one of them leaves the
   * others take over. Needs a storage node. Throws NO_STORAGE_NODE, READER_GROUP_FULL, NOT_STORED_IN_TIME, INVALID_ARGUMENT, and what
   * `resend` throws; the iteration throws when the user may not read any more.
   */
  async reader<T = unknown>(streamId: string, options: ReaderOptions<T>): Promise<DurableReader<T>> {
    const id = this.#gate.member(streamId)
    const { readers } = await this.#services.sides.get()
    const reader = await readers.open(id, options as ReaderOptions)
    this.#services.keys.attend(id)
    return reader as DurableReader<T>
  }

  /** What storage nodes have of a durable reader of this user; undefined where they have nothing. Throws what `resend` throws. */
  async readerState(streamId: string, name: string): Promise<StoredReader | undefined> {
    const id = this.#gate.member(streamId)
    return (await this.#services.sides.get()).readers.show(id, name)
  }

  /**
   * Puts a durable reader of this user elsewhere, back or ahead; members that run go on from there, and what they are at is not counted. Throws
   * NOT_STORED_IN_TIME, and what `resend` throws.
   */
  async resetReader(streamId: string, name: string, start: ReaderStart): Promise<void> {
    const id = this.#gate.member(streamId)
    await (await this.#services.sides.get()).readers.reset(id, name, start)
  }

  /**
   * Follows how much this client may publish urgently in a partition: the rate of its links to those who get it, for encoders. Joins nothing:
   * the first message does. Throws STREAM_NOT_FOUND, NO_PUBLISH_PERMISSION, PARTITION_OUT_OF_RANGE, ABORTED, and what the registry throws.
   */
  async urgentRate(streamId: string, options: UrgentRateOptions = {}): Promise<UrgentRate> {
    const id = this.#gate.member(streamId)
    throwIfAborted(options.signal)
    const stream = await requirePermission('publish', id, this.#services)
    const { openUrgentRate } = await import('./publish/urgent-rate.ts')
    return openUrgentRate(stream, options, this.#services)
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
    const messages = this.#services.stored.resend(streamId, selection, options)
    return messages as AsyncGenerator<Message<T>, void, undefined>
  }

  /**
   * Records the urgent messages of a stream, which nobody stores, as content of an ordinary one, until it is stopped: as they were signed, so that
   * `resend` and `playback` with `recording: true` give what their publishers said. Needs subscribe there and publish here. Throws
   * STREAM_NOT_FOUND, NO_SUBSCRIBE_PERMISSION, NO_PUBLISH_PERMISSION, PARTITION_OUT_OF_RANGE, ABORTED, and what the registry throws.
   */
  async record(from: string, to: string, options: RecordOptions = {}): Promise<Recording> {
    this.#gate.requireMember()
    throwIfAborted(options.signal)
    const { record } = await import('./record/recorder.ts')
    return record(this.streamId(from), this.streamId(to), options, this.#services)
  }

  /**
   * The newest message of a key, or of the whole stream, checked: from this node or from up to three neighbours at once, else from storage
   * nodes; undefined where none is known, or the key was removed. Joins where it is not joined, and leaves some seconds later. Neighbours
   * know what came in the last 30 s, and more where the stream's metadata has `lastValues: true`. Throws STREAM_NOT_FOUND,
   * NO_SUBSCRIBE_PERMISSION, PARTITION_OUT_OF_RANGE, INVALID_MESSAGE_KEY, ABORTED, what opening the content throws, or what the registry
   * throws.
   */
  async last<T = unknown>(streamId: string, options: LastOptions<T> = {}): Promise<Message<T> | undefined> {
    const id = this.#gate.member(streamId)
    const values = await this.#services.latest.get()
    return (await values.last(id, options)) as Message<T> | undefined
  }

  /**
   * The stream as a table: the newest message of each key, from up to three storage nodes, checked; partition after partition, in the order
   * of their times, without keys that were removed. An async iterable. Throws what `resend` throws.
   */
  async *table<T = unknown>(
    streamId: string,
    options: TableOptions<T> = {},
  ): AsyncGenerator<Message<T>, void, undefined> {
    const id = this.#gate.member(streamId)
    const values = await this.#services.latest.get()
    yield* values.table(id, options) as AsyncGenerator<Message<T>, void, undefined>
  }

  /** Stored messages at the pace they were published at, or a multiple of it; throws what `resend` throws. */
  playback<T = unknown>(
    streamId: string,
    selection: HistorySelection,
    options: PlaybackOptions<T> = {},
  ): Playback<T> {
    return this.#services.stored.playback(streamId, selection, options) as Playback<T>
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
    this.#gate.requireOpen()
    await this.#services.waiter.wait(messages, options)
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
    yield* readStorageNode(stream, toNodeId(nodeId), part, signal, this.#services.history)
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
    return this.#gate.problem
  }

  /** How each of several endpoints of the chain does, by its URL without secrets; none where there is one only. */
  get chainEndpoints(): readonly RpcStatus[] {
    return this.#services.registry.endpoints
  }

  /** What happens from now on, until the client is closed or the loop is left. */
  status(): AsyncIterableIterator<ClientStatus, undefined> {
    return this.#services.status.listen()
  }

  /** When the client reached each step on its way to the first message; the status 'phase' tells of each. */
  get phases(): PhaseTimes {
    return this.#services.phases.times
  }

  /** Sizes and losses of the client itself; those of the node are in `network.metrics()`. */
  counters(): Readonly<Record<string, number>> {
    const { cache, delegations, history, archive } = this.#services
    return {
      ...cache.counters(),
      ...delegations.counters(),
      ...history.counters(),
      ...archive.counters(),
    }
  }

  /**
   * Refuses new calls, waits until published messages are sent, and until what opens them is stored, or those who are there have
   * asked for it (at most `closeTimeoutMs`); then ends subscriptions and statuses after their queued items, leaves the network and
   * stops. Idempotent.
   */
  close(): Promise<ClientClosed> {
    return this.#services.life.close()
  }

  /** Resolves when the client is closed. */
  closed(): Promise<ClientClosed> {
    return this.#services.life.closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
