import { isRunnelError, type Clock } from '@runnel/protocol'
import type { RunnelClient } from '@runnel/client'
import { retainedKey } from './core/header-names.ts'
import type { SessionSubscription } from './core/session.ts'
import { toDelivery, type Delivery } from './core/to-mqtt.ts'
import type { MqttLimits } from './limits.ts'

interface Lookup {
  readonly client: RunnelClient
  /** Undefined: which streams there are is to be found first. */
  readonly streamId: string | undefined
  readonly subscription: SessionSubscription
}

/** Those of one account. */
interface Lookups {
  readonly waiting: Lookup[]
  readonly underWay: Set<Lookup>
}

export interface RetainedModules {
  readonly clock: Pick<Clock, 'now'>
  readonly maySee: (subscription: SessionSubscription, streamId: string) => boolean
  readonly failed: (error: unknown) => void
  /** So many are not looked for: too many wait. */
  readonly skipped: (count: number) => void
}

/** Finds what subscriptions begin with: the newest message with the key `retained` of each stream. Accounts do not wait for one another. */
export class Retained {
  readonly #limits: MqttLimits
  readonly #modules: RetainedModules
  readonly #accounts = new Map<string, Lookups>()

  constructor(limits: MqttLimits, modules: RetainedModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Of one stream, or of those under a prefix that there are. */
  begin(client: RunnelClient, subscription: SessionSubscription): void {
    const { target } = subscription.filter
    this.#add(subscription, [{ client, subscription, streamId: target.endsWith('/#') ? undefined : target }])
  }

  /** A subscription has got a retained message of a stream: what is found is older. */
  overtaken(subscription: SessionSubscription, { streamId }: Delivery): void {
    const underWay = this.#accounts.get(accountOf(subscription))?.underWay
    for (const lookup of underWay ?? [])
      if (lookup.subscription === subscription && lookup.streamId === streamId) underWay?.delete(lookup)
  }

  #add(subscription: SessionSubscription, lookups: readonly Lookup[]): void {
    const account = accountOf(subscription)
    const of = this.#accounts.get(account) ?? { waiting: [], underWay: new Set() }
    this.#accounts.set(account, of)
    const taken = lookups.slice(0, this.#limits.maxWaitingLookups - of.waiting.length)
    if (taken.length < lookups.length) this.#modules.skipped(lookups.length - taken.length)
    of.waiting.push(...taken)
    this.#go(account, of)
  }

  async #streamsOf(client: RunnelClient, subscription: SessionSubscription): Promise<readonly string[]> {
    const { target, pattern } = subscription.filter
    const prefix = target.slice(0, -1)
    const all = await client.listStreams({ owner: target.slice(0, 42), permission: 'subscribe' })
    const isMeant = (id: string) =>
      (id.startsWith(prefix) || id === prefix.slice(0, -1)) &&
      (pattern?.test(id) ?? true) &&
      this.#modules.maySee(subscription, id)
    return all
      .map(({ id }) => id)
      .filter(isMeant)
      .slice(0, this.#limits.maxRetainedStreams)
  }

  #go(account: string, of: Lookups): void {
    const { waiting, underWay } = of
    while (underWay.size < this.#limits.maxRetainedLookups) {
      const lookup = waiting.shift()
      if (lookup === undefined) break
      underWay.add(lookup)
      void this.#find(lookup, underWay).finally(() => {
        underWay.delete(lookup)
        this.#go(account, of)
      })
    }
    if (underWay.size === 0 && this.#accounts.get(account) === of) this.#accounts.delete(account)
  }

  async #find(lookup: Lookup, underWay: ReadonlySet<Lookup>): Promise<void> {
    const { client, streamId, subscription } = lookup
    const { session, filter } = subscription
    const isGone = () => session.subscriptions.get(subscription.name) !== subscription
    if (isGone()) return
    const { partition } = filter
    const options = { key: retainedKey, partition, asBytes: true, timeoutMs: this.#limits.retainedTimeoutMs }
    try {
      if (streamId === undefined) {
        const found = await this.#streamsOf(client, subscription)
        return this.#add(
          subscription,
          found.map((id) => ({ client, subscription, streamId: id })),
        )
      }
      const message = await client.last(streamId, options)
      if (message === undefined || isGone() || !underWay.has(lookup)) return
      const delivery = toDelivery(message)
      const isExpired = delivery.expiresMs !== undefined && delivery.expiresMs <= this.#modules.clock.now()
      if (!isExpired) session.deliver(delivery, subscription, true)
    } catch (error) {
      // The client closes with the gateway.
      if (!isRunnelError(error, 'CLIENT_CLOSED')) this.#modules.failed(error)
    }
  }
}

function accountOf({ session }: SessionSubscription): string {
  return session.key.account
}
