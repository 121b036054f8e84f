import type { RunnelClient } from '@runnel/client'
import type { Clock, NodeId } from '@runnel/protocol'
import type { Logger } from '../../logger.ts'
import type { GatewayAccount } from '../access/account.ts'
import type { Session, SessionSubscription } from './core/session.ts'
import type { Filter } from './core/topics.ts'
import type { Counters } from './counters.ts'
import { Feeds, type FeedsEvents } from './feeds.ts'
import { keptFeedIdOf } from './keeping/feed-ids.ts'
import type { SessionKeeper } from './keeping/session-keeper.ts'
import type { MqttLimits } from './limits.ts'

/** What all sessions of one client of the SDK share. */
export interface Identity {
  readonly client: RunnelClient
  readonly feeds: Feeds
  /** Sessions that act in its name. */
  leases: number
  publishing: number
  publishingBytes: number
}

/** In whose name a session acts, for as long as there is it. */
export interface Lease {
  readonly account: GatewayAccount
  readonly identity: Identity
  release(): void
}

/** A client of the SDK that an account has lent. */
export interface LentClient {
  readonly account: GatewayAccount
  readonly client: RunnelClient
  readonly release: () => void
}

export interface LeasesModules {
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
  readonly counters: Counters
  readonly keeper: SessionKeeper
  readonly delivered: FeedsEvents['delivered']
  /** As of `FeedsEvents`, for the sessions of one user. */
  readonly joined: (own: NodeId) => Promise<unknown> | undefined
}

/** In whose names the sessions of a gateway act, and what those share. */
export class Leases {
  readonly #limits: MqttLimits
  readonly #modules: LeasesModules
  readonly #identities = new Map<RunnelClient, Identity>()
  readonly #leases = new Map<Session, Lease>()

  constructor(limits: MqttLimits, modules: LeasesModules) {
    this.#limits = limits
    this.#modules = modules
  }

  of(session: Session): Lease | undefined {
    return this.#leases.get(session)
  }

  /** In whose name it acts from now on, unless that is known. */
  begin(session: Session, { account, client, release }: LentClient): Identity {
    const known = this.#leases.get(session)?.identity
    if (known !== undefined) {
      release()
      return known
    }
    const identity = this.#identityOf(client, account)
    identity.leases++
    this.#leases.set(session, { account, identity, release })
    return identity
  }

  /** With its subscriptions. */
  end(session: Session): void {
    const lease = this.#leases.get(session)
    if (lease === undefined) return
    for (const subscription of session.subscriptions.values()) lease.identity.feeds.remove(subscription)
    this.#leases.delete(session)
    lease.release()
    if (--lease.identity.leases === 0) this.#identities.delete(lease.identity.client)
  }

  maySee({ session }: SessionSubscription, streamId: string): boolean {
    const account = this.#leases.get(session)?.account
    return account?.maySubscribe(streamId as Parameters<GatewayAccount['maySubscribe']>[0]) === true
  }

  /** Whether the key of a session is for any stream that a filter may match. */
  mayFollow(session: Session, { target }: Filter): boolean {
    return this.#leases.get(session)?.account.maySubscribeToSome(target) === true
  }

  #identityOf(client: RunnelClient, account: GatewayAccount): Identity {
    const known = this.#identities.get(client)
    if (known !== undefined) return known
    const { clock, counters, delivered, joined, keeper, logger } = this.#modules
    const idOf = (feedId: string) => keptFeedIdOf(account, feedId)
    const events: FeedsEvents = {
      places: (feedId) => keeper.feed(idOf(feedId)),
      wasKept: (feedId) => keeper.wasKept(idOf(feedId)),
      joined: () => joined(client.account),
      closed: (feedId) => keeper.feedClosed(idOf(feedId)),
      missed: () => void counters.missedDelivered++,
      ended: (err) => logger.warn({ err }, 'a stream that MQTT clients read ended: it is tried again'),
      failed: (err) => logger.warn({ err }, 'what MQTT sessions missed is not read yet'),
      maySee: (subscription, streamId) => this.maySee(subscription, streamId),
      delivered,
    }
    const feeds = new Feeds(client, this.#limits, { clock, events })
    const identity = { client, feeds, leases: 0, publishing: 0, publishingBytes: 0 }
    this.#identities.set(client, identity)
    return identity
  }
}
