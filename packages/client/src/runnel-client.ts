/// <reference lib="esnext.disposable" preserve="true" />
// Without it, in a page whose `lib` is older, what `respond` returns would be `any`.
import type { RpcStatus } from '@runnel/contracts'
import type { HostView, JoinOptions, NetworkNode, PublisherPolicy } from '@runnel/network'
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
import type { ReaderBacklog, StoredReader } from './reader/readers.ts'
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
 * A member of a Runnel network: manages streams, publishes and subscribes. `createClient` makes one. Stream ids are `0xowner/path`, or `/path` for
 * the account's own streams. A call that fails throws a RunnelError with a code of `clientErrors`.
 */
export class RunnelClient implements AsyncDisposable {
  /** The user who publishes and reads: the address of the user's key. Any number of clients may act for one user. */
  readonly userId: NodeId
  /** The address of the node's key, which tells this process from the user's other processes. */
  readonly nodeId: NodeId
  /** The id of the chain with the registries; 0 if they are on no chain. */
  readonly chainId: number
  /** The client's network node, for its metrics and other things an operator wants to see. */
  readonly network: NetworkNode
  /** Finds the cards of users, and stores the user's own card so that others find it. */
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

  /** Returns the full id of a stream, given as `0xowner/path`, or as `/path` for a stream of `account`. Throws INVALID_STREAM_ID. */
  streamId(text: string): StreamId {
    return this.#gate.streamId(text)
  }

  /** In a light client: the hosts it is linked to and what they did, the preferred host first. */
  get hosts(): readonly HostView[] {
    return this.network.hosts
  }

  /** The address that changes registries: the wallet's, or the user's. */
  get account(): NodeId {
    return this.#gate.account
  }

  /**
   * Creates a stream under the client's account. Resolves when the stream can be used. Throws STREAM_EXISTS, NOT_STREAM_OWNER, REGISTRY_REFUSED, or
   * an error of the chain.
   */
  async createStream(stream: NewStream): Promise<StreamInfo> {
    this.#gate.requireAccount()
    return (await this.#services.streams.get()).create(stream)
  }

  /** Returns a stream. Throws STREAM_NOT_FOUND, or an error of the chain if nothing is known of the stream. */
  async getStream(streamId: string): Promise<StreamInfo> {
    const stream = await this.#services.cache.getStream(this.#gate.open(streamId))
    if (stream === undefined) throw streamNotFound(streamId)
    return stream
  }

  /**
   * Changes the partitions, metadata or trackers of a stream; settings not named stay as they are. Needs the edit permission. Does not move
   * messages: with another number of partitions, the same key may go to another partition. Throws the errors of `createStream`.
   */
  async updateStream(streamId: string, update: StreamUpdate): Promise<void> {
    const id = this.#gate.owner(streamId)
    await (await this.#services.streams.get()).update(id, update)
  }

  /**
   * Lists all streams, or the streams that match the filter, ordered by id. Reads the registry each time. Throws INVALID_ARGUMENT or
   * INVALID_NODE_ID.
   */
  async listStreams(filter: StreamFilter = {}): Promise<readonly StreamInfo[]> {
    this.#gate.requireOpen()
    return (await this.#services.streams.get()).list(filter)
  }

  /** Deletes a stream and every permission on it. */
  async deleteStream(streamId: string): Promise<void> {
    await this.#services.registry.writer.deleteStream(this.#gate.owner(streamId))
  }

  /**
   * Grants permissions to a user or to the public; permissions not named stay unchanged. Only publish and subscribe can be public or expire. A user
   * who gets subscribe on an encrypted stream is also passed the keys that this client can read, and then need not wait for anyone; if passing them
   * on fails, the status 'encryption' says so. Also throws INVALID_ARGUMENT, CARD_OF_OTHER_USER,
   * CARD_OLDER_GENERATION if a later card of the user is known, and the errors of `checkCard`.
   */
  async grant(streamId: string, grant: GrantOptions): Promise<void> {
    const id = this.#gate.owner(streamId)
    await (await this.#services.streams.get()).grant(id, grant)
  }

  /** Revokes permissions of a user or of the public. Public permissions still apply to the user. */
  async revoke(streamId: string, revoked: RevokeOptions): Promise<void> {
    const id = this.#gate.owner(streamId)
    await (await this.#services.streams.get()).revoke(id, revoked)
  }

  /**
   * Ends every delegation of `account` to a delegate, for ever: within seconds, nodes accept nothing more from processes that act with the
   * delegate's key. Messages published before stay valid in history. Throws the errors of `revoke`, and REGISTRY_OUTDATED.
   */
  async revokeDelegate(delegateId: string): Promise<void> {
    this.#gate.requireOpen()
    await this.#services.registry.delegationWriter.revokeDelegate(toNodeId(delegateId))
  }

  /**
   * Ends every delegation of `account` that has begun by now, by this machine's clock, as `revokeDelegate` does. Later delegations are valid:
   * processes that have the user's key continue, and processes with an earlier delegation need a new one.
   */
  async revokeDelegations(): Promise<void> {
    this.#gate.requireOpen()
    await this.#services.registry.delegationWriter.revokeDelegations(this.#services.clock.now())
  }

  /**
   * Switches the user to its next reading key from now on: signs a card for that key, which storage nodes keep. Content encrypted before stays
   * readable with the previous key, also for anyone who has stolen it. Throws NO_STORAGE_NODE, READING_KEY_CHANGED, NO_READING_KEY if this client
   * has no reading key, or READING_KEY_OTHER_GENERATION if its key was given to it.
   */
  async renewReadingKey(signal: AbortSignal = this.#services.closing): Promise<Card> {
    this.#gate.requireMember()
    return this.#services.encryption.renewCard(signal)
  }

  /**
   * Stores the user's card on storage nodes, so that anyone who grants the user a permission can pass on the keys as well. Happens by itself when
   * the user first reads something encrypted. Asks the user of a wallet to sign, even one who refused before. Throws NO_READING_KEY,
   * READING_KEY_CHANGED, CARD_NEEDS_USER, CARD_NOT_KEPT, CARDS_UNAVAILABLE, or an error of signing.
   */
  async ensureCard(signal: AbortSignal = this.#services.closing): Promise<Card> {
    this.#gate.requireMember()
    return this.#services.encryption.ensureCard(signal)
  }

  /**
   * Tells whether a stream is encrypted, whose keys are in use, and which readers find them with nobody else online. Contains no secrets. Needs the
   * publish, subscribe or grant permission. Throws STREAM_NOT_FOUND, NO_SUBSCRIBE_PERMISSION, and errors of the registry.
   */
  async keysOf(streamId: string): Promise<StreamKeys> {
    return this.#services.keys.of(this.#gate.member(streamId))
  }

  /**
   * Makes a new key now: for the messages of this user, or for the whole stream if the user is the key holder. The user's running processes (unless
   * the stream has no history for newcomers) and publishers that use the holder's keys switch to it. Older messages stay readable. Throws
   * NOT_ENCRYPTED, NOT_KEY_HOLDER, NO_PUBLISH_PERMISSION, STREAM_NOT_FOUND, and errors of the registry.
   */
  async rotateKeys(streamId: string): Promise<RotatedKeys> {
    return this.#services.keys.rotate(this.#gate.member(streamId))
  }

  /**
   * As the key holder of a stream, keeps a valid key ready for all its publishers until this client closes; makes a new key when a reader goes or
   * the key gets old. Resolves when a key is ready. If no valid key can be made later, the status 'encryption' says so. Throws NOT_KEY_HOLDER,
   * KEYS_UNCERTAIN, STREAM_NOT_FOUND, and errors of the registry.
   */
  async holdKeys(streamId: string): Promise<void> {
    await this.#services.encryption.hold(this.#gate.member(streamId))
  }

  /** Lists the permissions on a stream by user, the public ones first. Reads the registry each time. Throws STREAM_NOT_FOUND. */
  async getPermissions(streamId: string): Promise<readonly UserPermissions[]> {
    const { id } = await this.getStream(streamId)
    return (await this.#services.registry.permissionTable(id)).entries
  }

  /** Returns the permissions of a user on a stream, public or their own, from the cached registry. */
  async permissionsOf(streamId: string, user: string): Promise<Permissions> {
    return this.#services.cache.permissionsOf(this.#gate.open(streamId), toNodeId(user))
  }

  /** Tells who may publish and under which delegations, from the cached registry. For storage nodes, which check what other nodes give them. */
  get publisherPolicy(): PublisherPolicy {
    return this.#services.registry.publisherPolicy
  }

  /** Tells when delegations were revoked, from the cached registry. For storage nodes, which check what other nodes give them. */
  get delegationHistory(): DelegationHistory {
    return this.#services.registry.delegations
  }

  /** The threads that check signatures besides this one; undefined if there are none. For storage nodes, which check what other nodes give them. */
  get verification(): VerificationPool | undefined {
    return this.#services.verification
  }

  /** Tells who may read and under which delegations, from the cached registry. For storage nodes, which check the users that ask them. */
  get readerPolicy(): ReaderPolicy {
    return this.#services.registry.readerPolicy
  }

  /**
   * Checks that a card is valid now and is its user's. Throws CARD_OTHER_CHAIN, CARD_NOT_YET, CARD_FORGED, CONTRACT_NEEDS_CHAIN, or an error of the
   * chain. For storage nodes, which check what other nodes give them.
   */
  async checkCard(card: Card): Promise<void> {
    await this.#services.keys.checkCard(card)
  }

  /** Lists the storage nodes assigned to a stream, from the cached registry. Throws STREAM_NOT_FOUND. */
  async getStorageNodes(streamId: string): Promise<readonly StorageNodeInfo[]> {
    const { id } = await this.getStream(streamId)
    return this.#services.cache.storageNodesOf(id)
  }

  /** Lists all storage nodes of the network, ordered by id. Reads the registry each time. */
  async listStorageNodes(): Promise<readonly StorageNodeInfo[]> {
    this.#gate.requireOpen()
    return this.#services.registry.listStorageNodes()
  }

  /** Lists the streams assigned to a storage node, ordered by id. Reads the registry each time. */
  async streamsStoredBy(nodeId: string): Promise<readonly StreamId[]> {
    this.#gate.requireOpen()
    return this.#services.registry.streamsStoredBy(toNodeId(nodeId))
  }

  /** Assigns a stream to a registered storage node, which then stores it. Needs the edit permission on the stream. */
  async addToStorageNode(streamId: string, nodeId: string): Promise<void> {
    const id = this.#gate.owner(streamId)
    await this.#services.registry.storageWriter.assign(id, toNodeId(nodeId))
  }

  /** Ends the assignment of a stream to a storage node, which then stops storing it. */
  async removeFromStorageNode(streamId: string, nodeId: string): Promise<void> {
    const id = this.#gate.owner(streamId)
    await this.#services.registry.storageWriter.unassign(id, toNodeId(nodeId))
  }

  /** Registers the account as a storage node, or changes its address: a ws:// or wss:// URL. The storage node needs the account's key. */
  async registerStorageNode(url: string): Promise<void> {
    this.#gate.requireAccount()
    if (!isTrackerUrl(url)) throw clientError('INVALID_ARGUMENT', 'a storage node has a ws:// or wss:// URL')
    await this.#services.registry.storageWriter.register(url)
  }

  /**
   * Joins a stream part without subscribing: messages flood through, and `network.on('batch')` reports them. Needs no permission; meant for storage
   * nodes. Partition 100 is the stream's key part. Neighbours also send what was published up to `lookBackMs` before, as far as they still have it, if
   * nothing else here is in the part yet. The returned function leaves the part again; it is idempotent. Throws STREAM_NOT_FOUND or
   * PARTITION_OUT_OF_RANGE.
   */
  async joinStreamPart(
    streamId: string,
    partition: number,
    { lookBackMs = 0 }: Pick<JoinOptions, 'lookBackMs'> = {},
  ): Promise<() => void> {
    const stream = await this.getStream(streamId)
    this.#gate.requireOpen()
    const isOfKeys = partition === keyPartition
    const checked = isOfKeys ? partition : checkPartition(partition, stream)
    return this.#services.parts.join(stream, checked, { lookBackMs })
  }

  /**
   * Publishes a message: a Uint8Array as bytes, a string as text, anything else as JSON, if readers get it back (else
   * INVALID_CONTENT); at most 1 MiB. Messages keep the order of the calls; messages of one turn of the event loop share a signature. Resolves when the message has been handed to the network, after all earlier ones:
   * await it so as not to publish faster than the node can send. The first message joins the stream part and waits up to `waitForNeighboursMs` for
   * a first neighbour, unless nobody else is there; the client stays in the part until `stopPublishing` or `close`. Without a neighbour, the client
   * emits the status 'publishing-alone', `neighbours` is 0, and the node keeps the message for a while for nodes that join.
   */
  async publish(streamId: string, content: unknown, options: PublishOptions = {}): Promise<PublishedMessage> {
    return this.#services.publisher.publish(this.#gate.member(streamId), content, options)
  }

  /**
   * Seals and signs an urgent message that leaves within the call of `send`: for the last message of a page that is being closed, when nothing runs
   * any more that takes another turn. The message is dated now: prepare a new one every few seconds, because nodes treat a message as known once
   * hundreds of urgent messages have followed it. Throws the errors of `publish`.
   */
  async prepare(streamId: string, content: unknown, options: PrepareOptions): Promise<PreparedMessage> {
    return this.#services.publisher.prepare(this.#gate.member(streamId), content, options)
  }

  /**
   * Publishes all contents of an iterable, in order and as fast as they can be sent; waits whenever `publish` would throw PUBLISH_QUEUE_FULL. Ends
   * with the first message that is refused, and throws its error. `key` may be a function of the content. Throws the errors of `publish`.
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
   * Removes the value of a key: publishes a message without content (null) that says so. Subscribers get the message like any other; `last` and
   * `table` leave the key out. Throws the errors of `publish`.
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
   * Passes on a batch that somebody else signed, such as a device that keeps its own key. Checks the batch as batches from the network are checked,
   * and floods it unchanged. `delegation` is the delegation it is signed under, if this client does not know it. The user of this client must be
   * able to read the stream. Throws BATCH_FORGED, NO_PUBLISH_PERMISSION, TIMESTAMP_OUT_OF_BOUNDS, STREAM_NOT_FOUND, PARTITION_OUT_OF_RANGE,
   * MALFORMED_PACKET, and errors of the registry.
   */
  async relay(batchBytes: Uint8Array, delegation?: Uint8Array): Promise<RelayedBatch> {
    this.#gate.requireMember()
    return (await this.#services.relay.get()).relay(batchBytes, delegation)
  }

  /** Resolves when `publish` can take many more messages. Await it now and then instead of each `publish`. */
  async writable(): Promise<void> {
    this.#gate.requireOpen()
    await this.#services.publisher.room()
  }

  /**
   * Leaves the stream parts joined for publishing to a stream, unless something else keeps them joined. Resolves when all messages published there
   * before have been handed over. The next message joins again, and continues after the last one.
   */
  async stopPublishing(streamId: string): Promise<void> {
    const { publisher, sides } = this.#services
    const id = this.#gate.open(streamId)
    await publisher.leave(id)
    sides.now?.requester.leave(id)
  }

  /**
   * Subscribes to some or all partitions of a stream. Resolves when the node has joined them; `waitForNeighbours` of the subscription resolves when
   * there is a neighbour. Messages go to the callback if one is given, otherwise to the iteration over the subscription. A consumer that is too
   * slow loses its oldest messages; a status and a counter report it. `T` is the type of the content: what `schema` returns, or, without a schema,
   * what the application expects, unchecked.
   *
   * `0xowner/sensors/#` subscribes to `0xowner/sensors` and all streams below it that the user may read, `0xowner/#` to all streams of an owner:
   * existing streams, and streams created or permitted later, up to `maxStreams`. The statuses 'prefix' and 'prefix-full' say which.
   */
  async subscribe<T = unknown>(
    streamId: string,
    options: SubscribeOptions<T> = {},
    onMessage?: OnMessage<T>,
  ): Promise<Subscription<T>> {
    this.#gate.requireMember()
    // With a schema content is what that gives; without one the application says what it expects.
    const given = onMessage as OnMessage | undefined
    if (/\/#$/.test(streamId)) {
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
   * Publishes a request and resolves to the first reply. The request is an ordinary message that others answer with `respond`. Only this client can
   * read the reply, which the responder signed. Needs the publish permission. Throws REQUEST_TIMEOUT after `timeoutMs` (default 5,000),
   * NO_RESPONDER if nobody else is in the stream, REQUEST_FAILED if the responder failed, REPLY_UNREADABLE, TOO_MANY_REQUESTS, ABORTED, and the
   * errors of `publish`.
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

  /**
   * Like `request`, with several responders: yields replies as they come, until `timeoutMs` have passed or `maxReplies` have come. A failure is a
   * reply, too.
   */
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
   * Answers requests in a stream from now on. Handles up to 100 at once; replies to each with what the handler returns, or not at all if that is
   * undefined. An error of the handler goes to the asker and into a status 'callback-failed'. Throws the errors of `subscribe`.
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
   * Watches who is in a stream: members that want to be seen, as this client does after `presence.enter`. Reports joins at once, leaves within ten
   * seconds, and members that disappear silently within thirty. Needs the publish or subscribe permission. Throws STREAM_NOT_FOUND,
   * NO_SUBSCRIBE_PERMISSION, ABORTED, and, with `as`, the errors of `enter`.
   */
  async presence(streamId: string, options: PresenceOptions = {}): Promise<Presence> {
    const id = this.#gate.member(streamId)
    return (await this.#services.sides.get()).presences.open(id, options)
  }

  /**
   * Counts the nodes in a stream, as its trackers know them: without names, and whether or not they want to be seen. Counts only partitions that
   * this client is in because it subscribes or publishes there. Throws STREAM_NOT_JOINED, ABORTED, and of `networkErrors` COUNT_UNAVAILABLE in a
   * light client or if a tracker does not count, TRACKER_LOST and NOT_JOINED.
   */
  async count(streamId: string, options: CountOptions = {}): Promise<StreamCount> {
    const id = this.#gate.member(streamId)
    return (await this.#services.sides.get()).count(id, options)
  }

  /**
   * Reads a stream at least once, also across crashes: storage nodes keep this user's acknowledgements under a name. Returns an async iterable of
   * messages, each with `ack()`. With `group`, several processes of the user share the messages; when one leaves, the others take over its
   * unfinished messages. Needs a storage node. Throws NO_STORAGE_NODE, READER_GROUP_FULL, NOT_STORED_IN_TIME, INVALID_ARGUMENT, and the errors of
   * `resend`; the iteration throws when the user may no longer read.
   */
  async reader<T = unknown>(streamId: string, options: ReaderOptions<T>): Promise<DurableReader<T>> {
    const id = this.#gate.member(streamId)
    const { readers } = await this.#services.sides.get()
    const reader = await readers.open(id, options as ReaderOptions)
    this.#services.keys.attend(id)
    return reader as DurableReader<T>
  }

  /** Returns what storage nodes keep of a durable reader of this user; undefined if they keep nothing. Throws the errors of `resend`. */
  async readerState(streamId: string, name: string): Promise<StoredReader | undefined> {
    const id = this.#gate.member(streamId)
    return (await this.#services.sides.get()).readers.show(id, name)
  }

  /**
   * Returns how many stored messages a durable reader of this user has not done yet: reads what is stored from its position on, up to
   * 100,000 messages. Undefined if storage nodes keep nothing of the reader. Throws the errors of `resend`, and ABORTED.
   */
  async readerBacklog(
    streamId: string,
    name: string,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ReaderBacklog | undefined> {
    const id = this.#gate.member(streamId)
    return (await this.#services.sides.get()).readers.backlog(id, name, signal)
  }

  /**
   * Moves a durable reader of this user to another place, back or ahead. Running members continue from there; messages they have not yet
   * acknowledged do not count. Throws NOT_STORED_IN_TIME, and the errors of `resend`.
   */
  async resetReader(streamId: string, name: string, start: ReaderStart): Promise<void> {
    const id = this.#gate.member(streamId)
    await (await this.#services.sides.get()).readers.reset(id, name, start)
  }

  /**
   * Follows how much this client may publish urgently in a partition: the rate of its links to the receivers, for encoders. Joins nothing; the
   * first message does. Throws INVALID_ARGUMENT, STREAM_NOT_FOUND, NO_PUBLISH_PERMISSION, PARTITION_OUT_OF_RANGE, ABORTED, and errors of the registry.
   */
  async urgentRate(streamId: string, options: UrgentRateOptions = {}): Promise<UrgentRate> {
    const id = this.#gate.member(streamId)
    const { openUrgentRate } = await import('./publish/urgent-rate.ts')
    return openUrgentRate(id, options, this.#services)
  }

  /**
   * Reads stored messages of a stream: the last `n`, or all from a given time or place on. Yields verified messages in order of time, each once;
   * reads from up to three storage nodes at once, as the application takes messages. `last` is exact up to 10,000; for more, or if storage nodes
   * differ or fail meanwhile, a few extra messages may come. Throws, with the first message or later, INVALID_RESEND, NO_STORAGE_NODE,
   * RESEND_FAILED, RESEND_DENIED, STREAM_NOT_FOUND, NO_SUBSCRIBE_PERMISSION, ABORTED, or an error of the registry.
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
   * Records the urgent messages of the stream `from`, which nobody stores, as content of ordinary messages of the stream `to`, until stopped. Keeps
   * them as they were signed, so that `resend` and `playback` with `recording: true` return what their publishers said. Needs subscribe on `from`
   * and publish on `to`, a storage node for `to`, and one for `from` if that is encrypted, to keep its keys. Throws STREAM_NOT_FOUND,
   * NO_SUBSCRIBE_PERMISSION, NO_PUBLISH_PERMISSION, NO_STORAGE_NODE, RECORDING_UNREADABLE, PARTITION_OUT_OF_RANGE, ABORTED, and errors of the registry.
   */
  async record(from: string, to: string, options: RecordOptions = {}): Promise<Recording> {
    this.#gate.requireMember()
    throwIfAborted(options.signal)
    const { record } = await import('./record/recorder.ts')
    const modules = { ...this.#services, closing: this.#gate.closing }
    return record(this.streamId(from), this.streamId(to), options, modules)
  }

  /**
   * Returns the newest message of a key, or of the whole stream, checked: from this node or from up to three neighbours at once, otherwise from
   * storage nodes. Returns undefined if none is known or the key was removed. Joins the stream part if necessary, and leaves it some seconds later.
   * Neighbours know messages of the last 30 s, and older ones if the stream's metadata has `lastValues: true`. Throws STREAM_NOT_FOUND,
   * NO_SUBSCRIBE_PERMISSION, PARTITION_OUT_OF_RANGE, INVALID_MESSAGE_KEY, ABORTED, an error of opening the content, or an error of the registry.
   */
  async last<T = unknown>(streamId: string, options: LastOptions<T> = {}): Promise<Message<T> | undefined> {
    const id = this.#gate.member(streamId)
    const values = await this.#services.latest.get()
    return (await values.last(id, options)) as Message<T> | undefined
  }

  /**
   * Reads the stream as a table: the newest message of each key, checked, from up to three storage nodes. Yields partition after partition, in
   * order of time, without removed keys. Throws the errors of `resend`, and TABLE_TOO_LARGE.
   */
  async *table<T = unknown>(
    streamId: string,
    options: TableOptions<T> = {},
  ): AsyncGenerator<Message<T>, void, undefined> {
    const id = this.#gate.member(streamId)
    const values = await this.#services.latest.get()
    yield* values.table(id, options) as AsyncGenerator<Message<T>, void, undefined>
  }

  /** Reads stored messages at the pace they were published at, or a multiple of it. Throws the errors of `resend`. */
  playback<T = unknown>(
    streamId: string,
    selection: HistorySelection,
    options: PlaybackOptions<T> = {},
  ): Playback<T> {
    return this.#services.stored.playback(streamId, selection, options) as Playback<T>
  }

  /**
   * Waits until `count` (default 1) storage nodes have stored each of the messages durably: results of `publish`, or messages that were delivered.
   * Of an encrypted stream, also until one of them has the keys that this client made for it, so that the readers with a card need nobody else.
   * Throws NO_STORAGE_NODE, NOT_STORED_IN_TIME after `timeoutMs` (default 30,000), STREAM_NOT_FOUND, INVALID_ARGUMENT or ABORTED.
   */
  async waitForStorage(
    messages: MessagePlace | readonly MessagePlace[],
    options: WaitForStorageOptions = {},
  ): Promise<void> {
    this.#gate.requireOpen()
    await this.#services.waiter.wait(messages, options)
  }

  /**
   * Reads what one storage node has of a stream part: batches as they were published, unchecked. For storage nodes, which copy from each other;
   * applications use `resend`. Throws STREAM_NOT_FOUND, NO_STORAGE_NODE, RESEND_LINK_LOST, RESEND_TIMEOUT, RESEND_DENIED, RESEND_REFUSED,
   * RESEND_INVALID_ANSWER or ABORTED.
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
   * Whether this client may take part in the network. It may not if a private network does not list its user, or if its delegation was revoked.
   * While it may not, the node has no links, and publish, subscribe and resend throw `admissionProblem`. The status 'admission' tells when that
   * changes.
   */
  get isListed(): boolean {
    return this.admissionProblem === undefined
  }

  /** Why this client may not take part in the network: NODE_NOT_LISTED or DELEGATION_REVOKED; undefined if it may. */
  get admissionProblem(): RunnelError | undefined {
    return this.#gate.problem
  }

  /** The state of each chain endpoint, by its URL without secrets; empty if there is only one endpoint. */
  get chainEndpoints(): readonly RpcStatus[] {
    return this.#services.registry.endpoints
  }

  /** Iterates over statuses from now on, until the client is closed or the loop is left. */
  status(): AsyncIterableIterator<ClientStatus, undefined> {
    return this.#services.status.listen()
  }

  /** When the client reached each step on its way to the first message; the status 'phase' reports each step. */
  get phases(): PhaseTimes {
    return this.#services.phases.times
  }

  /** Sizes and losses of the client itself; the node's are in `network.metrics()`. */
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
   * Refuses new calls, and waits (at most `closeTimeoutMs`) until published messages are sent, and until their keys are stored or the readers that
   * are there have asked for them. Then ends subscriptions and statuses after their queued items, leaves the network and stops. Idempotent.
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
