import type { Delivery, Equivocation, Gap, NetworkNode } from '@runnel/network'
import {
  isUrgentChain,
  toStreamPartId,
  type Clock,
  type RunnelError,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { ContentSteps } from '../content/content-steps.ts'
import { reportUndecodable, type Decoding } from '../content/decode.ts'
import type { UndecodableMessage } from '../content/undecodable-message.ts'
import { deadline, throwIfAborted } from '../deadline.ts'
import { Denial } from '../denial.ts'
import { asError, clientError } from '../errors.ts'
import type { Faults } from '../faults.ts'
import type { ActingUser } from '../identity/acting-user.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { requirePermission } from '../permission.ts'
import { Slots } from '../resend/slots.ts'
import type { HistorySource } from '../resend/history-source.ts'
import {
  choosePartitions,
  historyOf,
  type HistoryFilter,
  type HistorySelection,
} from '../resend/selection.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { DelegationChecks } from '../registry/registry-delegations.ts'
import type { StatusHub } from '../status.ts'
import type { StreamParts } from '../stream-parts.ts'
import { AddedPartitions } from './added-partitions.ts'
import { toMessageEquivocation, type MessageEquivocation } from './equivocation.ts'
import type { MessageGap } from './gap.ts'
import { HistoryJoin } from './history-join.ts'
import { Inbox, type OnMessage } from './inbox.ts'
import { QueuedSubscription, type Subscription } from './subscription.ts'

/** What to subscribe to, what comes before live messages, and which callbacks report what is missing. */
export interface SubscribeOptions<T = unknown> extends Decoding<T> {
  /** Default: all partitions of the stream, also those that it gets later. Not for a prefix. */
  readonly partitions?: readonly number[] | undefined
  /** Only for a prefix: the most streams to subscribe to; beyond it the newest are left out until others go. 1 to 1,000, default 100. */
  readonly maxStreams?: number | undefined
  /** Messages kept for a slow consumer. Default: the client's `subscribe.maxQueuedMessages`. */
  readonly maxQueuedMessages?: number | undefined
  /** Content bytes kept for a slow consumer. Default: the client's `subscribe.maxQueuedBytes`. */
  readonly maxQueuedBytes?: number | undefined
  /**
   * Begin with stored messages: the last so many, or all since a place. Live messages follow without gaps or duplicates; they wait while the
   * application takes history. Needs a storage node.
   */
  readonly resend?: HistorySelection | undefined
  /** With `resend`: a stream without storage nodes begins with live messages instead of throwing NO_STORAGE_NODE. Default false. */
  readonly resendWhereStored?: boolean | undefined
  /**
   * 'chain' (default): delivers the messages of each chain in order, each once, and waits for a missing message as long as it may still
   * come. 'arrival': delivers messages as they come.
   */
  readonly order?: 'chain' | 'arrival' | undefined
  /**
   * Deliver urgent messages as well, as they come, with `message.urgent` set. Some may be missing; none are fetched, stored or reported.
   * 'others': all but this client's own urgent messages. Default false.
   */
  readonly urgent?: boolean | 'others' | undefined
  /** Fetch missing messages from neighbours, then from storage nodes. Default true. */
  readonly fillGaps?: boolean | undefined
  /** Called for messages that are left out because they cannot be opened or decoded; there is a status 'undecodable' too. */
  readonly onUndecodable?: ((message: UndecodableMessage) => void) | undefined
  /** Called for messages that did not come and are given up; there is a status 'gap' too. */
  readonly onGap?: ((gap: MessageGap) => void) | undefined
  /**
   * Called if history could not be read completely, before live messages come; or live messages that did not fit while it was read could not be
   * read from storage. There is a status 'history-failed' too.
   */
  readonly onHistoryFailed?: ((error: Error) => void) | undefined
  /**
   * Called when the subscription has ended because the user lost the permission to subscribe (NO_SUBSCRIBE_PERMISSION) or the stream was deleted
   * (STREAM_NOT_FOUND), and it was not back after 20 seconds. There is a status 'subscription-ended' too, and an iteration throws the error
   * after the queued messages. Not for a prefix, which goes on with its other streams: see the status 'prefix'.
   */
  readonly onEnded?: ((error: RunnelError) => void) | undefined
  /** Called when a publisher was shown to have signed two messages for one place; there is a status 'equivocation' too. */
  readonly onEquivocation?: ((equivocation: MessageEquivocation) => void) | undefined
  /** Ends the subscription as `unsubscribe` does; if there is none yet, `subscribe` rejects with ABORTED. */
  readonly signal?: AbortSignal | undefined
}

const subscribeOptions: OptionNames<SubscribeOptions> = {
  ...{ partitions: true, maxStreams: true, raw: true, asBytes: true, schema: true, resend: true },
  ...{ maxQueuedMessages: true, maxQueuedBytes: true },
  ...{ order: true, fillGaps: true, onUndecodable: true, onGap: true, onEquivocation: true, signal: true },
  ...{ onHistoryFailed: true, onEnded: true, urgent: true, resendWhereStored: true },
}

export interface SubscriberOptions {
  /** How long history waits for a neighbour that sends live messages. */
  readonly waitForNeighboursMs: number
  readonly maxQueuedMessages: number
  readonly maxQueuedBytes: number
}

export interface SubscriberModules {
  readonly node: NetworkNode
  readonly cache: RegistryCache
  readonly delegations: DelegationChecks
  readonly parts: StreamParts
  readonly user: ActingUser
  readonly clock: Clock
  readonly status: StatusHub
  readonly history: HistorySource
  readonly faults: Pick<Faults, 'report'>
  readonly steps: Pick<ContentSteps, 'open'>
}

/** Where the messages of a subscription go. */
export interface Destination {
  readonly inbox: Inbox
  /** The inbox has messages of other streams, too, whose histories are read in turn. */
  readonly shared?: { readonly histories: Slots } | undefined
}

/** For the messages of many streams. */
type SharedDestination = Destination & { readonly shared: { readonly histories: Slots } }

/**
 * What was published in a partition that a stream has just got is wanted from so long before it was joined: publishers may have heard of it first.
 */
const addedLookBackMs = 60_000

/** Gaps remembered as reported. */
const maxReportedGaps = 1_000

/** Subscribes, and hands what the node delivers to the subscriptions of its stream part. */
export class Subscriber {
  readonly #options: SubscriberOptions
  readonly #modules: SubscriberModules
  readonly #byStreamPart = new Map<StreamPartId, Set<QueuedSubscription>>()
  readonly #all = new Set<QueuedSubscription>()
  /** Of those that are subscribed to all partitions. */
  readonly #added = new Map<QueuedSubscription, AddedPartitions>()
  readonly #reportedGaps = new LRU<true>(maxReportedGaps)
  #closed = false

  constructor(options: SubscriberOptions, modules: SubscriberModules) {
    this.#options = options
    this.#modules = modules
  }

  /**
   * To be given every message the node delivers. That it is new, well-formed, signed by its publisher, and that the
   * publisher may publish, the node has seen to before it delivered or forwarded it.
   */
  receive({ streamPartId, message, from }: Delivery): void {
    const subscriptions = this.#byStreamPart.get(streamPartId)
    if (subscriptions === undefined) return
    const isUrgent = isUrgentChain(message)
    for (const subscription of [...subscriptions]) {
      if (!isUrgent) this.#within(subscription, streamPartId, () => subscription.flow.message(message))
      else if (from === undefined ? subscription.takesUrgent === true : subscription.takesUrgent !== false)
        this.#within(subscription, streamPartId, () => subscription.message(message))
    }
  }

  /** To be given every gap the node gave up. */
  gap(gap: Gap): void {
    for (const subscription of [...(this.#byStreamPart.get(gap.streamPartId) ?? [])])
      this.#within(subscription, gap.streamPartId, () => subscription.flow.gap(gap))
  }

  /** Does some work of a subscription. Its errors do not affect other subscriptions. */
  #within(subscription: QueuedSubscription, streamPartId: StreamPartId, work: () => void): void {
    try {
      work()
    } catch (error) {
      subscription.beginAnew()
      this.#modules.faults.report({ streamPartId, error })
    }
  }

  /** Takes every equivocation the node noticed, and tells subscriptions that got the rejected message. */
  equivocation(found: Equivocation): void {
    const equivocation = toMessageEquivocation(found)
    this.#modules.status.emit({ type: 'equivocation', ...equivocation })
    for (const subscription of [...(this.#byStreamPart.get(found.streamPartId) ?? [])])
      subscription.equivocation(equivocation)
  }

  /** A stream may have other partitions; any, when none is given. */
  streamsChanged(changed: StreamId | undefined): void {
    for (const [{ streamId }, added] of this.#added) if (streamId === (changed ?? streamId)) added.look()
  }

  async subscribe(
    streamId: StreamId,
    options: SubscribeOptions,
    onMessage: OnMessage | undefined,
  ): Promise<Subscription> {
    if (options.maxStreams !== undefined)
      throw clientError('INVALID_ARGUMENT', 'maxStreams goes with a prefix, such as 0xowner/sensors/#')
    const inbox = this.createInbox(options)
    const subscription = await this.subscribeInto({ inbox }, streamId, options)
    if (onMessage !== undefined) void inbox.deliverTo(onMessage)
    return subscription
  }

  /** Throws INVALID_ARGUMENT and ABORTED. */
  createInbox(options: SubscribeOptions): Inbox {
    checkOptions('subscribe', options, subscribeOptions)
    throwIfAborted(options.signal)
    if (options.order !== undefined && options.order !== 'chain' && options.order !== 'arrival') {
      throw clientError('INVALID_ARGUMENT', "order is 'chain' or 'arrival'")
    }
    if (options.urgent !== undefined && typeof options.urgent !== 'boolean' && options.urgent !== 'others')
      throw clientError('INVALID_ARGUMENT', "urgent is true, false or 'others'")
    const { status } = this.#modules
    return new Inbox(
      {
        decoding: options,
        maxItems: options.maxQueuedMessages ?? this.#options.maxQueuedMessages,
        maxBytes: options.maxQueuedBytes ?? this.#options.maxQueuedBytes,
      },
      {
        events: {
          slow: (streamId, dropped) => status.emit({ type: 'slow-consumer', streamId, dropped }),
          callbackFailed: (streamId, error) => status.emit({ type: 'callback-failed', streamId, error }),
        },
      },
    )
  }

  /** For the messages of many streams. Throws as `createInbox`. */
  createShared(options: SubscribeOptions): SharedDestination {
    const { maxHistoriesOfPrefix } = this.#modules.history.limits
    return { inbox: this.createInbox(options), shared: { histories: new Slots(maxHistoriesOfPrefix) } }
  }

  /** Subscribes to one stream. What it delivers goes to an inbox, which ends with it unless it is shared. */
  async subscribeInto(
    { inbox, shared }: Destination,
    streamId: StreamId,
    options: SubscribeOptions,
  ): Promise<Subscription> {
    const { signal } = options
    const stream = await requirePermission('subscribe', streamId, this.#modules)
    if (this.#closed) throw clientError('CLIENT_CLOSED')
    const partitions = choosePartitions(stream, options.partitions)
    const { resend, resendWhereStored = false } = options
    const hasHistory = !resendWhereStored || (await this.#isStored(streamId))
    const join =
      hasHistory && resend
        ? await this.#prepareHistory(stream, inbox, { ...options, partitions }, resend)
        : undefined
    if (this.#closed) throw clientError('CLIENT_CLOSED')
    throwIfAborted(signal)
    const subscription = this.#open(stream, partitions, options, { inbox, shared })
    if (join !== undefined) {
      const history = join(subscription)
      void subscription.readFirst(history, shared && (() => this.#inTurn(shared.histories, history)))
    }
    return subscription
  }

  async #isStored(streamId: StreamId): Promise<boolean> {
    const { cache, node } = this.#modules
    return (await cache.storageNodesOf(streamId)).some(({ nodeId }) => nodeId !== node.nodeId)
  }

  async #inTurn(histories: Slots, history: HistoryJoin): Promise<void> {
    const release = await histories.take(this.#modules.history.closing)
    await history.run().finally(release)
  }

  /** Finds the storage nodes that have the history before it joins anything. */
  async #prepareHistory(
    stream: StreamInfo,
    inbox: Inbox,
    options: HistoryFilter & Pick<SubscribeOptions, 'onHistoryFailed' | 'signal'>,
    selection: HistorySelection,
  ): Promise<(subscription: QueuedSubscription) => HistoryJoin> {
    const { history, status } = this.#modules
    const wanted = historyOf(selection, options, stream)
    const plan = await history.plan(stream, wanted.partitions, options.signal)
    return (subscription) =>
      new HistoryJoin(
        { plan, wanted },
        {
          history,
          plan: (signal) => history.plan(stream, subscription.partitions, signal),
          sink: subscription,
          flow: subscription.flow,
          room: () => inbox.room(),
          connected: this.#connected(subscription),
          onFailed: (thrown) => {
            const error = asError(thrown)
            status.emit({ type: 'history-failed', streamId: stream.id, error })
            this.#inform(stream.id, () => options.onHistoryFailed?.(error))
          },
        },
      )
  }

  /**
   * Resolves when there is a neighbour to receive live messages from, when there is nobody to be one, or when none came in time;
   * undefined when there is one already.
   */
  #connected({ streamPartIds }: QueuedSubscription): Promise<void> | undefined {
    const { node, clock, parts } = this.#modules
    if (streamPartIds.every((id) => parts.neighbourCount(id) > 0)) return undefined
    const { signal, end } = deadline(clock, this.#options.waitForNeighboursMs, this.#modules.history.closing)
    return Promise.all(streamPartIds.map((id) => node.waitForNeighbours(id, { signal, orAlone: true })))
      .then(end)
      .catch(() => {
        // No neighbour came in time, or the client is closing.
      })
  }

  /** Ends every subscription after its queued messages. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#all].map((subscription) => subscription.unsubscribe()))
  }

  #open(
    stream: StreamInfo,
    partitions: readonly number[],
    options: SubscribeOptions,
    { inbox, shared }: Destination,
  ): QueuedSubscription {
    const { node, parts, status, steps } = this.#modules
    const leave = inbox.enter()
    const releases: (() => void)[] = []
    const subscription: QueuedSubscription = new QueuedSubscription(
      {
        streamId: stream.id,
        partitions,
        order: options.order ?? 'chain',
        urgent: options.urgent ?? false,
      },
      {
        node,
        steps,
        inbox,
        events: {
          gap: (gap) => {
            this.#reportGap(gap)
            this.#inform(stream.id, () => options.onGap?.(gap))
          },
          equivocation: (equivocation) => options.onEquivocation?.(equivocation),
          undecodable: (message, error) => {
            const undecodable = reportUndecodable(message, error, status)
            this.#inform(stream.id, () => options.onUndecodable?.(undecodable))
          },
          ended: (opened) => {
            if (opened === undefined) leave()
            else void opened.then(leave)
            if (shared === undefined) inbox.close()
            options.signal?.removeEventListener('abort', onAbort)
            this.#forget(subscription)
            for (const release of releases) release()
          },
        },
      },
    )
    // It also ends what is still read of history. A signal may outlive the subscription, and must not hold it then.
    const onAbort = (): void => void subscription.unsubscribe()
    options.signal?.addEventListener('abort', onAbort, { once: true })
    this.#all.add(subscription)
    const { fillGaps = true } = options
    // Who follows many streams looks after them.
    const ending = new AbortController()
    releases.push(() => ending.abort())
    const denial = shared ? undefined : this.#denial(subscription, inbox, options, ending.signal)
    const onDenied = denial && (() => denial.suspect())
    const join = (of: StreamInfo, joined: readonly number[], lookBackMs = 0): void => {
      for (const partition of joined) {
        const id = toStreamPartId(of.id, partition)
        // Listed first: what the node delivers while joining is not to be missed.
        this.#byStreamPart.set(id, (this.#byStreamPart.get(id) ?? new Set()).add(subscription))
        releases.push(parts.join(of, partition, { fillGaps, onDenied, lookBackMs }))
      }
    }
    join(stream, partitions)
    if (options.partitions === undefined) {
      const { clock, cache } = this.#modules
      const added = new AddedPartitions(
        { known: partitions.length },
        {
          ...{ clock, signal: ending.signal },
          getStream: () => cache.getStream(stream.id),
          onAdded: (now, those) => {
            subscription.takeIn(those)
            join(now, those, addedLookBackMs)
          },
        },
      )
      this.#added.set(subscription, added)
      // It may have got some while this was opened.
      added.look()
    }
    return subscription
  }

  /** Nothing comes any more where its user may not read: if that is final, the subscription ends with the reason. */
  #denial(
    subscription: QueuedSubscription,
    inbox: Inbox,
    { onEnded }: SubscribeOptions,
    signal: AbortSignal,
  ): Denial {
    const { streamId } = subscription
    const { clock, status } = this.#modules
    const check = () => requirePermission('subscribe', streamId, this.#modules)
    const onFinal = (error: RunnelError) => {
      inbox.fail(error)
      void subscription.unsubscribe()
      status.emit({ type: 'subscription-ended', streamId, error })
      this.#inform(streamId, () => onEnded?.(error))
    }
    return new Denial({ clock, check, onFinal, signal })
  }

  #inform(streamId: StreamId, call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#modules.status.emit({ type: 'callback-failed', streamId, error })
    }
  }

  #forget(subscription: QueuedSubscription): void {
    this.#all.delete(subscription)
    this.#added.delete(subscription)
    for (const id of subscription.streamPartIds) {
      const subscriptions = this.#byStreamPart.get(id)
      subscriptions?.delete(subscription)
      if (subscriptions?.size === 0) this.#byStreamPart.delete(id)
    }
  }

  /** Once, however many subscriptions it concerns. */
  #reportGap(gap: MessageGap): void {
    const { streamPartId, publisherId, messageChainId, after, upTo } = gap
    const key = [
      streamPartId,
      publisherId,
      messageChainId,
      ...Object.values(after),
      ...Object.values(upTo),
    ].join(' ')
    if (this.#reportedGaps.has(key)) return
    this.#reportedGaps.set(key, true)
    this.#modules.status.emit({ type: 'gap', ...gap })
  }
}
