import type { Clock, StreamId, StreamPartId } from '@runnel/protocol'
import { asError, clientError, noPermission, streamNotFound } from '../../errors.ts'
import type { LeftOut } from '../../follow/survey.ts'
import { StreamFollower, type FollowChange, type FollowingClient } from '../../follow/stream-follower.ts'
import type { StreamPrefix } from '../../follow/stream-pattern.ts'
import type { Slots } from '../../resend/slots.ts'
import type { StatusHub } from '../../status.ts'
import type { Inbox } from '../inbox.ts'
import type { Message } from '../message.ts'
import type { Destination, SubscribeOptions } from '../subscriber.ts'
import type { Subscription, SubscriptionCounters } from '../subscription.ts'
import { prefixLimits } from './limits.ts'

export interface PrefixModules {
  readonly client: FollowingClient
  readonly inbox: Inbox
  /** In whose turn histories are read. */
  readonly histories: Slots
  /** Subscribes to one stream. */
  readonly open: (to: Destination, streamId: StreamId, options: SubscribeOptions) => Promise<Subscription>
  readonly clock: Clock
  readonly status: Pick<StatusHub, 'emit'>
  /** Aborted when the client closes. */
  readonly closing: AbortSignal
}

interface Member {
  readonly partitions: number
  /** One more each time the stream gets more partitions. */
  readonly subscriptions: readonly Subscription[]
}

/** What each stream counts for itself; the rest the inbox counts for all. */
const summed = ['received', 'undecodable', 'gaps', 'faults', 'late'] as const

/** One subscription to all streams under a prefix that the user may read, now or later. */
export class PrefixSubscription implements Subscription {
  /** `0xowner/sensors/#` */
  readonly streamId: string
  readonly partitions: readonly number[] = []
  readonly #options: SubscribeOptions
  readonly #maxStreams: number
  readonly #modules: PrefixModules
  readonly #follower: StreamFollower
  readonly #members = new Map<StreamId, Member>()
  /** Of streams that were left. */
  readonly #past: Record<(typeof summed)[number], number> = {
    ...{ received: 0, undecodable: 0, gaps: 0, faults: 0, late: 0 },
  }
  #ended = false
  readonly #onAbort = () => void this.unsubscribe()

  constructor(pattern: StreamPrefix, options: SubscribeOptions, modules: PrefixModules) {
    const { client, clock } = modules
    this.streamId = `${pattern.prefix}#`
    this.#options = options
    this.#maxStreams = options.maxStreams ?? prefixLimits.maxStreams
    this.#modules = modules
    this.#follower = new StreamFollower(
      {
        ...prefixLimits,
        patterns: [pattern],
        maxStreams: this.#maxStreams,
        maxLooks: this.#maxStreams * prefixLimits.looksPerStream,
      },
      {
        client,
        clock,
        events: {
          held: () => new Map([...this.#members].map(([id, { partitions }]) => [id, partitions])),
          enter: (streamId, partitions) => this.#enter(streamId, partitions),
          leave: (streamId) => this.#leave(streamId),
          changed: (change) => this.#tell(change),
          leftOut: (leftOut) => this.#tellLeftOut(leftOut),
          failing: () => {},
        },
      },
    )
  }

  /** Resolves when it is subscribed to all that there is now. Rejects when the registry does not say what that is. */
  async start(): Promise<void> {
    for (const signal of [this.#modules.closing, this.#options.signal])
      signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#follower.start()
    await this.#follower.refresh()
    if (this.#follower.unlisted === undefined) return
    await this.unsubscribe()
    throw asError(this.#follower.unlisted)
  }

  get streamPartIds(): readonly StreamPartId[] {
    return this.#subscriptions.flatMap(({ streamPartIds }) => streamPartIds)
  }

  async waitForNeighbours(options?: { count?: number; signal?: AbortSignal }): Promise<void> {
    await Promise.all(this.#subscriptions.map((one) => one.waitForNeighbours(options)))
  }

  async caughtUp(): Promise<void> {
    await Promise.all(this.#subscriptions.map((one) => one.caughtUp()))
  }

  counters(): SubscriptionCounters {
    const sum = { ...this.#past }
    for (const one of this.#subscriptions) addTo(sum, one.counters())
    return { ...sum, ...this.#modules.inbox.counters() }
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    return this.#modules.inbox.iterate(() => this.unsubscribe())
  }

  async unsubscribe(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    for (const signal of [this.#modules.closing, this.#options.signal])
      signal?.removeEventListener('abort', this.#onAbort)
    for (const streamId of [...this.#members.keys()]) this.#leave(streamId)
    this.#modules.inbox.close()
    await this.#follower.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.unsubscribe()
  }

  get #subscriptions(): readonly Subscription[] {
    return [...this.#members.values()].flatMap(({ subscriptions }) => subscriptions)
  }

  async #enter(streamId: StreamId, partitions: number): Promise<void> {
    const { partitions: first, subscriptions } = this.#members.get(streamId) ?? {
      ...{ partitions: 0, subscriptions: [] },
    }
    if (first >= partitions) return
    const { inbox, histories, open } = this.#modules
    const added = Array.from({ length: partitions - first }, (_, i) => first + i)
    const { maxStreams: _, signal: __, ...options } = this.#options
    const subscription = await open({ inbox, shared: { histories } }, streamId, {
      ...options,
      partitions: added,
    })
    if (this.#ended) return subscription.unsubscribe()
    this.#members.set(streamId, { partitions, subscriptions: [...subscriptions, subscription] })
  }

  #leave(streamId: StreamId): void {
    const member = this.#members.get(streamId)
    this.#members.delete(streamId)
    for (const one of member?.subscriptions ?? []) {
      void one.unsubscribe()
      addTo(this.#past, one.counters())
    }
  }

  #tell({ streamId, was, now, error }: FollowChange): void {
    const tell = (state: 'joined' | 'left' | 'failed', why?: unknown) =>
      this.#modules.status.emit({
        ...{ type: 'prefix', prefix: this.streamId, streamId, state },
        ...(why === undefined ? {} : { error: asError(why) }),
      })
    if (now?.state === 'joined' || now?.state === 'failed') tell(now.state, error)
    else if (was !== undefined && was.partitions > 0) {
      const isDenied = now?.state === 'denied'
      const { userId } = this.#modules.client
      tell('left', isDenied ? noPermission('subscribe', userId, streamId) : streamNotFound(streamId))
    }
  }

  #tellLeftOut({ streams: leftOut }: LeftOut): void {
    const detail = `${leftOut} streams of ${this.streamId} beside ${this.#members.size}`
    this.#modules.status.emit({
      ...{ type: 'prefix-full', prefix: this.streamId, leftOut },
      ...(leftOut > 0 ? { error: clientError('TOO_MANY_STREAMS', detail) } : {}),
    })
  }
}

function addTo(sum: Record<(typeof summed)[number], number>, counters: SubscriptionCounters): void {
  for (const name of summed) sum[name] += counters[name]
}
