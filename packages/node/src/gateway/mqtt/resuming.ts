import type { Clock, StreamId } from '@runnel/protocol'
import type { Logger } from '../../logger.ts'
import type { GatewayAccess } from '../access/access.ts'
import type { GatewayAccount } from '../access/account.ts'
import type { Held } from './core/outbox.ts'
import type { Session } from './core/session.ts'
import type { Sessions } from './core/sessions.ts'
import type { Counters } from './counters.ts'
import { feedIdOf } from './feeds.ts'
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

/** Goes on with the sessions of the node before this one, some at a time. */
export class Resuming {
  readonly #limits: MqttLimits
  readonly #modules: ResumingModules
  #isStopped = false

  constructor(limits: MqttLimits, modules: ResumingModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** They are there when it returns; what they missed comes meanwhile. */
  start(): void {
    const { counters, keeper } = this.#modules
    const restored = keeper.start().flatMap((found) => this.#restore(found) ?? [])
    keeper.forgetFeedsBut(new Set(restored.flatMap(keptFeedsOf)))
    counters.restoredSessions += restored.length
    const left = restored.values()
    for (let i = 0; i < this.#limits.maxResuming; i++) void this.#resumeAll(left)
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Undefined where its key is another now, or its time is over. */
  #restore(found: FoundSession): Session | undefined {
    const { access, clock, keeper, sessions } = this.#modules
    const account = access.accountNamed(found.key.account)
    if (found.leftMs <= 0 || account?.userId !== found.own) {
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

  async #resumeAll(left: Iterable<Session>): Promise<void> {
    for (const session of left) await this.#resume(session)
  }

  /** Subscribes again. */
  async #resume(session: Session): Promise<void> {
    const { access, clock, leases, logger, sessions } = this.#modules
    const account = access.accountNamed(session.key.account)
    if (this.#isStopped || account === undefined || !sessions.has(session)) return
    try {
      const lent = await account.acquire()
      if (!sessions.has(session)) return lent.release()
      const { feeds } = leases.begin(session, { account, ...lent })
      for (const subscription of [...session.subscriptions.values()]) {
        // The client is back meanwhile and has given it up or another for it, or the session has ended and has none.
        if (session.subscriptions.get(subscription.name) !== subscription) continue
        await feeds.add(subscription)
      }
    } catch (err) {
      if (this.#isStopped) return
      logger.warn({ err, ...session.key }, 'an MQTT session is not subscribed again yet')
      clock.schedule(this.#limits.resumeAgainMs, () => void this.#resume(session))
    }
  }
}

/** Of what the client was not yet sent: the key may be for less than when it came. */
function mayHave(account: GatewayAccount, { message, messageId }: Held): boolean {
  const isSent = message === undefined || messageId !== undefined
  return isSent || account.maySubscribe(message.delivery.streamId as StreamId)
}

/** Of which it is kept how far its session has them. */
function keptFeedsOf({ own, subscriptions }: Session): readonly string[] {
  const kept = [...subscriptions.values()].filter(({ options }) => options.qos > 0)
  return kept.map(({ filter }) => `${own} ${feedIdOf(filter)}`)
}
