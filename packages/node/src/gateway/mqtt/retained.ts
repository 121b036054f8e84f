import { isRunnelError, type Clock } from '@runnel/protocol'
import type { RunnelClient } from '@runnel/client'
import { retainedKey } from './core/header-names.ts'
import type { SessionSubscription } from './core/session.ts'
import { toDelivery, type Delivery } from './core/to-mqtt.ts'
import type { MqttLimits } from './limits.ts'

interface Lookup {
  readonly client: RunnelClient
  readonly streamId: string
  readonly subscription: SessionSubscription
}

export interface RetainedModules {
  readonly clock: Pick<Clock, 'now'>
  readonly maySee: (subscription: SessionSubscription, streamId: string) => boolean
  readonly failed: (error: unknown) => void
}

/** Finds what subscriptions begin with: the newest message with the key `retained` of each stream. */
export class Retained {
  readonly #limits: MqttLimits
  readonly #modules: RetainedModules
  readonly #waiting: Lookup[] = []
  readonly #underWay = new Set<Lookup>()

  constructor(limits: MqttLimits, modules: RetainedModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Of one stream, or of those under a prefix that there are. */
  async begin(client: RunnelClient, subscription: SessionSubscription): Promise<void> {
    const { filter } = subscription
    try {
      for (const streamId of await this.#streamsOf(client, subscription))
        this.#waiting.push({ client, streamId, subscription })
    } catch (error) {
      this.#modules.failed(error)
    }
    if (filter.group === undefined) this.#go()
  }

  /** A subscription has got a retained message of a stream: what is found is older. */
  overtaken(subscription: SessionSubscription, { streamId }: Delivery): void {
    for (const lookup of this.#underWay)
      if (lookup.subscription === subscription && lookup.streamId === streamId) this.#underWay.delete(lookup)
  }

  async #streamsOf(client: RunnelClient, subscription: SessionSubscription): Promise<readonly string[]> {
    const { target, pattern } = subscription.filter
    if (!target.endsWith('/#')) return [target]
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

  #go(): void {
    while (this.#underWay.size < this.#limits.maxRetainedLookups) {
      const lookup = this.#waiting.shift()
      if (lookup === undefined) return
      this.#underWay.add(lookup)
      void this.#find(lookup).finally(() => {
        this.#underWay.delete(lookup)
        this.#go()
      })
    }
  }

  async #find(lookup: Lookup): Promise<void> {
    const { client, streamId, subscription } = lookup
    const { session, filter } = subscription
    const isGone = () => session.subscriptions.get(subscription.name) !== subscription
    if (isGone()) return
    const { partition } = filter
    const options = { key: retainedKey, partition, asBytes: true, timeoutMs: this.#limits.retainedTimeoutMs }
    try {
      const message = await client.last(streamId, options)
      if (message === undefined || isGone() || !this.#underWay.has(lookup)) return
      const delivery = toDelivery(message)
      const isExpired = delivery.expiresMs !== undefined && delivery.expiresMs <= this.#modules.clock.now()
      if (!isExpired) session.deliver(delivery, subscription, true)
    } catch (error) {
      // The client closes with the gateway.
      if (!isRunnelError(error, 'CLIENT_CLOSED')) this.#modules.failed(error)
    }
  }
}
