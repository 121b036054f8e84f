import type { Message, RunnelClient, Subscription } from '@runnel/client'
import { SharedTurns } from './core/shared-turns.ts'
import type { SessionSubscription } from './core/session.ts'
import { toDelivery, type Delivery } from './core/to-mqtt.ts'
import type { Filter } from './core/topics.ts'

export interface FeedsEvents {
  /** Whether the account of a session may read this stream. */
  maySee(subscription: SessionSubscription, streamId: string): boolean
  delivered(subscription: SessionSubscription, delivery: Delivery): void
}

/**
 * What one client is subscribed to for the sessions that it serves: each stream or prefix once, however many of them ask for it. Messages go
 * to the outbox of each session, which is bounded, so that nobody waits for the slowest.
 */
export class Feeds {
  readonly #client: RunnelClient
  readonly #events: FeedsEvents
  readonly #feeds = new Map<string, Feed>()

  constructor(client: RunnelClient, events: FeedsEvents) {
    this.#client = client
    this.#events = events
  }

  get isEmpty(): boolean {
    return this.#feeds.size === 0
  }

  /** Resolves when it is subscribed. Throws what `subscribe` of the client throws. */
  async add(subscription: SessionSubscription): Promise<void> {
    const { filter } = subscription
    const id = idOf(filter)
    const feed = this.#feeds.get(id) ?? new Feed(this.#client, filter, this.#events)
    this.#feeds.set(id, feed)
    feed.add(subscription)
    try {
      await feed.opened
    } catch (error) {
      this.remove(subscription)
      throw error
    }
  }

  /** Idempotent. */
  remove(subscription: SessionSubscription): void {
    const id = idOf(subscription.filter)
    const feed = this.#feeds.get(id)
    if (feed === undefined || !feed.remove(subscription) || !feed.isEmpty) return
    this.#feeds.delete(id)
    feed.close()
  }
}

function idOf({ target, partition }: Filter): string {
  return partition === undefined ? target : `${target}@${partition}`
}

class Feed {
  readonly opened: Promise<Subscription>
  readonly #events: FeedsEvents
  readonly #members = new Set<SessionSubscription>()
  readonly #shared = new SharedTurns()

  constructor(client: RunnelClient, { target, partition }: Filter, events: FeedsEvents) {
    this.#events = events
    const partitions = partition === undefined ? {} : { partitions: [partition] }
    this.opened = client.subscribe(target, { ...partitions, asBytes: true }, (message) => this.#pass(message))
    // Who adds a member waits for it.
    this.opened.catch(() => {})
  }

  get isEmpty(): boolean {
    return this.#members.size === 0 && this.#shared.isEmpty
  }

  add(subscription: SessionSubscription): void {
    if (subscription.filter.group === undefined) this.#members.add(subscription)
    else this.#shared.add(subscription)
  }

  /** False where it was not there. */
  remove(subscription: SessionSubscription): boolean {
    return subscription.filter.group === undefined
      ? this.#members.delete(subscription)
      : this.#shared.remove(subscription)
  }

  close(): void {
    this.opened.then(
      (subscription) => subscription.unsubscribe(),
      () => {},
    )
  }

  #pass(message: Message): void {
    const delivery = toDelivery(message)
    const isMeant = (subscription: SessionSubscription) =>
      (subscription.filter.pattern?.test(delivery.streamId) ?? true) &&
      this.#events.maySee(subscription, delivery.streamId)
    for (const subscription of this.#members) if (isMeant(subscription)) this.#deliver(subscription, delivery)
    for (const subscription of this.#shared.next(isMeant)) this.#deliver(subscription, delivery)
  }

  #deliver(subscription: SessionSubscription, delivery: Delivery): void {
    subscription.session.deliver(delivery, subscription)
    this.#events.delivered(subscription, delivery)
  }
}
