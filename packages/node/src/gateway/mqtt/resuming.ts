import type { Clock, NodeId, StreamId } from '@runnel/protocol'
import type { Logger } from '../../logger.ts'
import type { GatewayAccess } from '../access/access.ts'
import type { GatewayAccount } from '../access/account.ts'
import type { Held } from './core/outbox.ts'
import type { Session } from './core/session.ts'
import type { Sessions } from './core/sessions.ts'
import type { Counters } from './counters.ts'
import { feedIdOf, type Feeds } from './feeds.ts'
import { keptFeedIdOf } from './keeping/feed-ids.ts'
import type { FoundSession, SessionKeeper } from './keeping/session-keeper.ts'
import type { Leases } from './leases.ts'
import type { MqttLimits } from './limits.ts'

export interface ResumingModules {
  readonly access: GatewayAccess
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
  readonly counters: Counters
  readonly keeper: SessionKeeper
  readonly sessions: Sessions
  readonly leases: Leases
}

/**
 * Goes on with the sessions of the node before this one. All of a user join their feeds before the first of these is opened, as what was
 * missed comes once; then they are opened for some sessions at a time.
 */
export class Resuming {
  readonly #limits: MqttLimits
  readonly #modules: ResumingModules
  /** By user, until its sessions have joined their feeds. */
  readonly #joining = new Map<NodeId, Promise<unknown>>()
  #isStopped = false

  constructor(limits: MqttLimits, modules: ResumingModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** They are there when it returns; what they missed comes meanwhile. */
  start(): void {
    const { counters, keeper, sessions } = this.#modules
    const found = keeper.start().flatMap((one) => this.#restore(one) ?? [])
    // Those that ended meanwhile leave their wills.
    sessions.tick(this.#modules.clock.monotonicMs())
    sessions.limitAway()
    const restored = found.filter((session) => sessions.has(session))
    keeper.goOnWith(new Set(restored.flatMap((session) => this.#keptFeedsOf(session))))
    counters.restoredSessions += restored.length
    for (const [own, ofUser] of Map.groupBy(restored, (session) => session.own)) {
      // One that fails has said so.
      const joining = Promise.all(ofUser.map((session) => this.#join(session).catch(() => {})))
      this.#joining.set(own, joining)
      void joining.then(() => this.#joining.delete(own))
    }
    const left = restored.values()
    for (let i = 0; i < this.#limits.maxResuming; i++) void this.#resumeAll(left)
  }

  /** Resolves when the sessions of a user have joined their feeds, as far as they could; undefined where that is so. */
  joined(own: NodeId): Promise<unknown> | undefined {
    return this.#joining.get(own)
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Undefined where its key is another now, or its time is over and it leaves no will. */
  #restore(found: FoundSession): Session | undefined {
    const { access, clock, keeper, sessions } = this.#modules
    const account = access.accountNamed(found.key.account)
    const isOver = found.leftMs <= 0 && found.will === undefined
    if (isOver || account?.userId !== found.own) {
      found.drop()
      return undefined
    }
    const held = found.held.filter((one) => mayHave(account, one))
    const session = sessions.restore({ ...found, held }, found.journal, clock.monotonicMs())
    keeper.restored(session)
    const isKept = new Set(held)
    for (const one of found.held) if (!isKept.has(one)) found.journal.removed(one)
    return session
  }

  /** Of which it is kept how far its session has them. */
  #keptFeedsOf({ key, subscriptions }: Session): readonly string[] {
    const account = this.#modules.access.accountNamed(key.account)
    if (account === undefined) return []
    const kept = [...subscriptions.values()].filter(({ options }) => options.qos > 0)
    return kept.map(({ filter }) => keptFeedIdOf(account, feedIdOf(filter)))
  }

  async #resumeAll(left: Iterable<Session>): Promise<void> {
    for (const session of left) await this.#resume(session)
  }

  /** Subscribes again; what cannot be subscribed to is tried again later, and keeps no other filter back. */
  async #resume(session: Session): Promise<void> {
    const { clock, logger } = this.#modules
    try {
      const feeds = await this.#join(session)
      if (feeds === undefined) return
      let failure: { readonly err: unknown } | undefined
      for (const subscription of [...session.subscriptions.values()]) {
        // The client is back meanwhile and has given it up or another for it, or the session has ended and has none.
        if (session.subscriptions.get(subscription.name) !== subscription) continue
        await feeds.open(subscription).catch((err: unknown) => (failure ??= { err }))
      }
      if (failure !== undefined) throw failure.err
    } catch (err) {
      if (this.#isStopped) return
      logger.warn({ err, ...session.key }, 'an MQTT session is not subscribed again yet')
      clock.schedule(this.#limits.resumeAgainMs, () => void this.#resume(session))
    }
  }

  /** Undefined where the session or its key is gone. Throws what opening a client throws. */
  async #join(session: Session): Promise<Feeds | undefined> {
    const { access, leases, sessions } = this.#modules
    const account = access.accountNamed(session.key.account)
    if (this.#isStopped || account === undefined || !sessions.has(session)) return undefined
    const lent = await account.acquire()
    if (this.#isStopped || !sessions.has(session)) return void lent.release()
    const { feeds } = leases.begin(session, { account, ...lent })
    for (const subscription of session.subscriptions.values()) feeds.join(subscription)
    return feeds
  }
}

/** Of what the client was not yet sent: the key may be for less than when it came. */
function mayHave(account: GatewayAccount, { message, messageId }: Held): boolean {
  const isSent = message === undefined || messageId !== undefined
  return isSent || account.maySubscribe(message.delivery.streamId as StreamId)
}
