import type { Message, RunnelClient, Subscription } from '@runnel/client'
import type { Cancel, Clock } from '@runnel/protocol'
import { SharedTurns } from './core/shared-turns.ts'
import type { SessionSubscription } from './core/session.ts'
import { toDelivery, type Delivery } from './core/to-mqtt.ts'
import type { Filter } from './core/topics.ts'
import type { FeedPlaces } from './keeping/feed-places.ts'
import type { MqttLimits } from './limits.ts'

export interface FeedsEvents {
  /** Whether the account of a session may read this stream. */
  maySee(subscription: SessionSubscription, streamId: string): boolean
  delivered(subscription: SessionSubscription, delivery: Delivery): void
  /** How far the sessions of a feed are; undefined where sessions end with the node. */
  places(feedId: string): FeedPlaces | undefined
  /** Whether the node before this one had it for sessions that are back. */
  wasKept(feedId: string): boolean
  /** Resolves when those sessions have joined their feeds; undefined where they have. */
  joined(): Promise<unknown> | undefined
  closed(feedId: string): void
  /** A message came that the node before this one missed. */
  missed(): void
  /** The client's user may not read it any more. */
  ended(error: unknown): void
  /** What was missed could not be read. */
  failed(error: unknown): void
}

type FeedLimits = Pick<MqttLimits, 'maxCatchUpMs' | 'resumeAgainMs'>

export interface FeedsModules {
  readonly clock: Clock
  readonly events: FeedsEvents
}

/**
 * What one client is subscribed to for the sessions that it serves: each stream or prefix once, however many of them ask for it. Messages go
 * to the outbox of each session, which is bounded, so that nobody waits for the slowest.
 */
export class Feeds {
  readonly #client: RunnelClient
  readonly #limits: FeedLimits
  readonly #modules: FeedsModules
  readonly #feeds = new Map<string, Feed>()

  constructor(client: RunnelClient, limits: FeedLimits, modules: FeedsModules) {
    this.#client = client
    this.#limits = limits
    this.#modules = modules
  }

  get isEmpty(): boolean {
    return this.#feeds.size === 0
  }

  /** Resolves when it is subscribed. Throws what `subscribe` of the client throws: then it is not added. */
  async add(subscription: SessionSubscription): Promise<void> {
    this.join(subscription)
    try {
      await this.open(subscription)
    } catch (error) {
      this.remove(subscription)
      throw error
    }
  }

  /** It gets what comes from now on, once it is opened. Idempotent. */
  join(subscription: SessionSubscription): void {
    const { filter } = subscription
    const id = feedIdOf(filter)
    const feed =
      this.#feeds.get(id) ?? new Feed(id, filter, this.#limits, { ...this.#modules, client: this.#client })
    this.#feeds.set(id, feed)
    feed.add(subscription)
  }

  /** Resolves when what it has joined is subscribed. Throws as `add`: it stays joined, and this can be tried again. */
  async open({ filter }: SessionSubscription): Promise<void> {
    await this.#feeds.get(feedIdOf(filter))?.opened
  }

  /** The session of a subscription outlasts the node from now on. */
  keep(subscription: SessionSubscription): void {
    this.#feeds.get(feedIdOf(subscription.filter))?.keep(subscription)
  }

  /** Idempotent. */
  remove(subscription: SessionSubscription): void {
    const id = feedIdOf(subscription.filter)
    const feed = this.#feeds.get(id)
    if (feed === undefined || !feed.remove(subscription) || !feed.isEmpty) return
    this.#feeds.delete(id)
    feed.close()
  }
}

/** What is subscribed to for a filter, and for others like it. */
export function feedIdOf({ target, partition }: Filter): string {
  return partition === undefined ? target : `${target}@${partition}`
}

interface FeedModules extends FeedsModules {
  readonly client: RunnelClient
}

class Feed {
  readonly #id: string
  readonly #filter: Filter
  readonly #limits: FeedLimits
  readonly #modules: FeedModules
  readonly #members = new Set<SessionSubscription>()
  readonly #shared = new SharedTurns()
  #places: FeedPlaces | undefined
  #opened: Promise<Subscription> | undefined
  #cancelAgain: Cancel = () => {}
  /** Messages that came since it was opened, and with how many of them all is there that was missed. */
  #passed = 0
  #missedUntil = Infinity
  #isClosed = false

  constructor(id: string, filter: Filter, limits: FeedLimits, modules: FeedModules) {
    this.#id = id
    this.#filter = filter
    this.#limits = limits
    this.#modules = modules
    // Whoever opens it: what sessions missed comes before all else.
    if (modules.events.wasKept(id)) this.#places = modules.events.places(id)
  }

  /** Once there is a member: begins with what was missed, where the node before this one had it, and so once all who missed it are there. */
  get opened(): Promise<Subscription> {
    if (this.#opened !== undefined) return this.#opened
    const joined = this.#places?.isBehind === true ? this.#modules.events.joined() : undefined
    const opened = joined === undefined ? this.#open() : joined.then(() => this.#open())
    this.#opened = opened
    opened.catch(() => {
      // It can be tried again.
      if (this.#opened === opened) this.#opened = undefined
    })
    return opened
  }

  get isEmpty(): boolean {
    return this.#members.size === 0 && this.#shared.isEmpty
  }

  add(subscription: SessionSubscription): void {
    this.keep(subscription)
    if (subscription.filter.group === undefined) this.#members.add(subscription)
    else this.#shared.add(subscription)
  }

  /** From now on, where its session outlasts the node. */
  keep({ session, options }: SessionSubscription): void {
    if (session.journal !== undefined && options.qos > 0)
      this.#places ??= this.#modules.events.places(this.#id)
  }

  /** False where it was not there. */
  remove(subscription: SessionSubscription): boolean {
    return subscription.filter.group === undefined
      ? this.#members.delete(subscription)
      : this.#shared.remove(subscription)
  }

  close(): void {
    this.#isClosed = true
    this.#cancelAgain()
    if (this.#places !== undefined) this.#modules.events.closed(this.#id)
    this.#end()
  }

  #open(): Promise<Subscription> {
    const { target, partition } = this.#filter
    const partitions = partition === undefined ? {} : { partitions: [partition] }
    const opened = this.#modules.client.subscribe(
      target,
      { ...partitions, ...this.#missed(), onEnded: (error) => this.#ended(error), asBytes: true },
      (message) => this.#pass(message),
    )
    this.#passed = 0
    this.#missedUntil = Infinity
    // Who adds a member waits for it, and what was not read is read again.
    opened.then((subscription) => this.#caughtUp(subscription)).catch(() => {})
    return opened
  }

  /** Then all that was missed is on its way. */
  async #caughtUp(subscription: Subscription): Promise<void> {
    await subscription.caughtUp()
    const { received, undecodable, dropped } = subscription.counters()
    this.#missedUntil = received - undecodable - dropped
    this.#count()
  }

  #count(): void {
    if (this.#passed >= this.#missedUntil && this.#places?.isBehind === true) this.#places.caughtUp()
  }

  #missed() {
    const places = this.#places
    if (places?.isBehind !== true) return {}
    return {
      resend: { from: Math.max(0, places.heardMs - this.#limits.maxCatchUpMs) },
      resendWhereStored: true,
      onHistoryFailed: (error: Error) => this.#later(error),
    }
  }

  /** Said once: it may last. */
  #ended(error: unknown): void {
    if (this.#isClosed) return
    this.#modules.events.ended(error)
    this.#later(error)
  }

  /** What was missed is not read, or the client's user may not read any more: tries again a little later. */
  #later(error: unknown): void {
    if (this.#isClosed) return
    if (this.#places?.isBehind === true) {
      this.#modules.events.failed(error)
      this.#places.failed()
    }
    this.#cancelAgain()
    this.#cancelAgain = this.#modules.clock.schedule(this.#limits.resumeAgainMs, () => this.#again())
  }

  /** What came meanwhile comes again: it may be behind what was missed. */
  #again(): void {
    this.#end()
    if (this.#places?.isBehind === true) this.#places.again()
    this.#opened = this.#open()
    this.#opened.catch((error: unknown) => this.#later(error))
  }

  #end(): void {
    this.#opened?.then(
      (subscription) => subscription.unsubscribe(),
      () => {},
    )
  }

  #pass(message: Message): void {
    if (this.#isClosed) return
    this.#passed++
    if (this.#places?.had(message) !== true) this.#deliverAll(message)
    this.#count()
  }

  #deliverAll(message: Message): void {
    const delivery = toDelivery(message)
    const isMissed = this.#places?.mayHaveMissed(message) === true
    const isMeant = (subscription: SessionSubscription) =>
      (subscription.filter.pattern?.test(delivery.streamId) ?? true) &&
      (!isMissed || message.timestamp >= subscription.sinceMs) &&
      this.#modules.events.maySee(subscription, delivery.streamId)
    for (const subscription of this.#members) if (isMeant(subscription)) this.#deliver(subscription, delivery)
    for (const subscription of this.#shared.next(isMeant)) this.#deliver(subscription, delivery)
    this.#places?.note(message)
    if (isMissed) this.#modules.events.missed()
  }

  #deliver(subscription: SessionSubscription, delivery: Delivery): void {
    subscription.session.deliver(delivery, subscription)
    this.#modules.events.delivered(subscription, delivery)
  }
}
