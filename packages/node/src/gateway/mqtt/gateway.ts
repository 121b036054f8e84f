import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { RunnelClient } from '@runnel/client'
import type { Clock } from '@runnel/protocol'
import type { IConnectPacket } from 'mqtt-packet'
import type { GatewayAccess } from '../access/access.ts'
import type { GatewayAccount } from '../access/account.ts'
import type { Logger } from '../../logger.ts'
import { Connection, type Peer } from './connection.ts'
import type { SubscriptionRequest } from './core/conversation.ts'
import { MqttProblem, Reason } from './core/reasons.ts'
import type { Session, SessionSubscription } from './core/session.ts'
import { Sessions } from './core/sessions.ts'
import type { MqttMessage } from './core/to-runnel.ts'
import { filterOf } from './core/topics.ts'
import type { Counters, Gauges } from './counters.ts'
import { feedIdOf, Feeds, type FeedsEvents } from './feeds.ts'
import type { FoundSession, SessionKeeper } from './keeping/session-keeper.ts'
import type { MqttLimits } from './limits.ts'
import { problemOf, publishMessage, type PublishSettings } from './publishing.ts'
import { RefusalLog } from './refusal-log.ts'
import { Retained } from './retained.ts'

export interface MqttGatewaySettings extends PublishSettings {
  readonly maxConnections: number
}

export interface MqttGatewayModules {
  readonly access: GatewayAccess
  readonly clock: Clock
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>
  readonly counters: Counters
  readonly keeper: SessionKeeper
}

/** What all sessions of one client of the SDK share. */
interface Identity {
  readonly client: RunnelClient
  readonly feeds: Feeds
  publishing: number
  publishingBytes: number
}

/** In whose name a session acts, for as long as there is it. */
interface Lease {
  readonly account: GatewayAccount
  readonly identity: Identity
  release(): void
}

/** How often keep alives, sessions and wills are looked at. */
const tickMs = 1_000
/** A client that sends more than it may is looked at again after so long. */
const crowdedMs = 5

/** Serves MQTT clients: what they publish goes to streams, and what they subscribe to comes from there. */
export class MqttGateway {
  readonly counters: Counters
  readonly #settings: MqttGatewaySettings
  readonly #limits: MqttLimits
  readonly #modules: MqttGatewayModules
  readonly #sessions: Sessions
  readonly #retained: Retained
  readonly #refusals: RefusalLog
  readonly #connections = new Map<Connection, () => void>()
  readonly #identities = new Map<RunnelClient, Identity>()
  readonly #leases = new Map<Session, Lease>()
  #stopListening = () => {}
  #cancelTick = () => {}
  #isStopped = false

  constructor(settings: MqttGatewaySettings, limits: MqttLimits, modules: MqttGatewayModules) {
    this.#settings = settings
    this.#limits = limits
    this.#modules = modules
    this.counters = modules.counters
    this.#refusals = new RefusalLog(modules.logger, modules.clock)
    this.#sessions = new Sessions(limits, {
      totals: this.counters,
      newOrigin: randomUUID,
      effects: {
        ended: (session) => this.#forget(session),
        publishWill: (session, will) => this.publish(session, will, () => {}),
        changed: (session, waitsMs) => this.#keep(session, waitsMs),
      },
    })
    this.#retained = new Retained(limits, {
      clock: modules.clock,
      maySee: (subscription, streamId) => this.#maySee(subscription, streamId),
      failed: (err) => modules.logger.debug({ err }, 'a retained message was not found'),
      skipped: (count) => (this.counters.skippedRetained += count),
    })
  }

  get gauges(): Gauges {
    const { size: sessions, away: awaySessions } = this.#sessions
    return { connections: this.#connections.size, sessions, awaySessions }
  }

  /** Goes on with the sessions of the node before this one; what they missed comes meanwhile. */
  start(): void {
    const { access, clock } = this.#modules
    const restored = this.#modules.keeper.start().flatMap((found) => this.#restore(found) ?? [])
    this.#modules.keeper.forgetFeedsBut(new Set(restored.flatMap(keptFeedsOf)))
    this.counters.restoredSessions += restored.length
    void this.#resumeAll(restored)
    this.#stopListening = access.on('changed', (name) => this.#endAccount(name))
    const tick = () => {
      const nowMs = clock.monotonicMs()
      this.#sessions.tick(nowMs)
      for (const { conversation } of this.#connections.keys()) conversation.tick(nowMs)
      this.#cancelTick = clock.schedule(tickMs, tick)
    }
    this.#cancelTick = clock.schedule(tickMs, tick)
  }

  /** Tells clients that it goes. Their sessions are for the next node with this file. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#cancelTick()
    this.#stopListening()
    this.#modules.keeper.close()
    for (const { conversation } of this.#connections.keys())
      conversation.fail(new MqttProblem(Reason.shuttingDown, 'the node stops'))
    this.#sessions.close()
  }

  /** A connection that has just opened. */
  accept(stream: Duplex, peer: Peer): void {
    if (this.#isStopped || this.#connections.size >= this.#settings.maxConnections) {
      this.refused()
      stream.on('error', () => {})
      stream.destroy()
      return
    }
    const { clock } = this.#modules
    const connection = new Connection(stream, peer, this.#limits, {
      sessions: this.#sessions,
      clock,
      gateway: this,
    })
    this.#connections.set(connection, () => {})
  }

  /** A connection that there is no room for. */
  refused(): void {
    this.counters.refusedConnections++
  }

  authenticate(connection: Connection, connect: IConnectPacket): void {
    const { access, clock } = this.#modules
    const { address, certificateFingerprint } = connection.peer
    const { password } = connect
    const find = () =>
      (password && access.accountOf({ key: password.toString() })) ??
      (certificateFingerprint === undefined ? undefined : access.accountOf({ certificateFingerprint }))
    const account = find()
    if (account !== undefined) return void this.#admit(connection, connect, account, () => find() === account)
    this.counters.refusedCredentials++
    const problem = unknownClient(password, certificateFingerprint)
    this.#refusals.add('an MQTT client', problem.message, { address })
    const refuse = () => connection.conversation.refuse(problem)
    const waitMs = password === undefined ? 0 : access.failed(address)
    if (waitMs === 0) refuse()
    else clock.schedule(waitMs, refuse)
  }

  publish(session: Session, message: MqttMessage, done: (result: number | MqttProblem) => void): void {
    const lease = this.#leases.get(session)
    if (lease === undefined) return done(new MqttProblem(Reason.unspecified, 'the session has ended'))
    const { account, identity } = lease
    const bytes = message.payload.length
    identity.publishing++
    identity.publishingBytes += bytes
    publishMessage(
      message,
      { account, session, client: identity.client },
      this.#settings,
      this.#modules.clock,
    )
      .then(
        (reason) => {
          this.counters.published++
          done(reason)
        },
        (error: unknown) => {
          this.counters.publishRefused++
          const problem = this.#problemOf(error)
          this.#refusals.add('a message of an MQTT client', problem.message, session.key)
          done(problem)
        },
      )
      .finally(() => {
        identity.publishing--
        identity.publishingBytes -= bytes
      })
  }

  subscribe(
    session: Session,
    requests: readonly SubscriptionRequest[],
    done: (reasons: readonly number[], text: string | undefined) => void,
  ): void {
    let why: string | undefined
    const refused = (error: unknown) => {
      this.counters.subscriptionsRefused++
      const problem = this.#problemOf(error)
      why ??= problem.message
      this.#refusals.add('a filter of an MQTT client', problem.message, session.key)
      return problem.reason === Reason.topicInvalid ? Reason.filterInvalid : problem.reason
    }
    const begun: (() => void)[] = []
    void Promise.all(
      requests.map(async (request) => {
        try {
          begun.push(await this.#subscribe(session, request))
          return request.options.qos
        } catch (error) {
          return refused(error)
        }
      }),
    ).then((reasons) => {
      done(reasons, why)
      // Retained messages come behind the answer.
      for (const begin of begun) begin()
    })
  }

  unsubscribe(session: Session, filter: string): boolean {
    const subscription = session.subscriptions.get(filter)
    if (subscription === undefined) return false
    session.subscriptions.delete(filter)
    this.#leases.get(session)?.identity.feeds.remove(subscription)
    return true
  }

  takeRate(session: Session, bytes: number): number {
    const lease = this.#leases.get(session)
    if (lease === undefined) return 0
    const { account, identity } = lease
    const { maxPublishingOfIdentity, maxPublishingBytesOfIdentity } = this.#limits
    const isCrowded =
      identity.publishing >= maxPublishingOfIdentity ||
      identity.publishingBytes >= maxPublishingBytesOfIdentity
    const waitMs = isCrowded ? crowdedMs : account.takeRate(bytes)
    if (waitMs > 0) this.slowed()
    return waitMs
  }

  slowed(): void {
    this.counters.slowed++
  }

  failed(connection: Connection, error: unknown): void {
    const { logger } = this.#modules
    const { address } = connection.peer
    const account = connection.session?.key.account
    if (error instanceof MqttProblem) {
      this.counters.protocolErrors++
      this.#refusals.add('a packet of an MQTT client', error.message, { address, account })
      return
    }
    this.counters.faults++
    logger.error({ err: error, address, account }, 'an MQTT connection failed')
  }

  received(packets: number, bytes: number): void {
    this.counters.receivedPackets += packets
    this.counters.receivedBytes += bytes
  }

  sent(bytes: number): void {
    this.counters.sentBytes += bytes
  }

  closed(connection: Connection): void {
    this.#connections.get(connection)?.()
    this.#connections.delete(connection)
  }

  async #admit(
    connection: Connection,
    { will }: IConnectPacket,
    account: GatewayAccount,
    isInForce: () => boolean,
  ): Promise<void> {
    const { conversation } = connection
    const countOut = account.connect()
    if (countOut === undefined) {
      this.counters.refusedConnections++
      const problem = new MqttProblem(Reason.quotaExceeded, 'the key has as many connections as it may')
      const { address } = connection.peer
      this.#refusals.add('an MQTT client', problem.message, { address, account: account.name })
      return conversation.refuse(problem)
    }
    try {
      if (will !== undefined) await this.#payForWill(connection, account, will.payload.length)
      const { client, release } = await account.acquire()
      const { name, userId: own } = account
      // The key may have been taken away meanwhile.
      if (!isInForce()) conversation.refuse(new MqttProblem(Reason.notAuthorized, 'the key was taken away'))
      const session = conversation.admit({ account: name, own, assignedClientId: randomUUID() })
      if (session === undefined || !this.#connections.has(connection)) {
        release()
        return countOut()
      }
      this.#connections.set(connection, countOut)
      connection.session = session
      this.counters.accepted++
      this.#lease(session, { account, client, release })
      connection.resume()
    } catch (error) {
      countOut()
      this.#modules.logger.warn({ err: error, account: account.name }, 'an MQTT client cannot be served')
      conversation.refuse(new MqttProblem(Reason.unavailable, 'the identity of the key cannot be served now'))
    }
  }

  /** A will is a message of its key: it is taken from the rate when its client connects, so that it is published whatever comes. */
  async #payForWill(connection: Connection, account: GatewayAccount, bytes: number): Promise<void> {
    const { clock } = this.#modules
    for (let waitMs; (waitMs = account.takeRate(bytes)) > 0 && this.#connections.has(connection);) {
      this.slowed()
      await new Promise<void>((resolve) => void clock.schedule(waitMs, resolve))
    }
  }

  /** In whose name it acts from now on, unless that is known. */
  #lease(
    session: Session,
    { account, client, release }: { account: GatewayAccount; client: RunnelClient; release: () => void },
  ): Identity {
    const known = this.#leases.get(session)?.identity
    if (known !== undefined) {
      release()
      return known
    }
    const identity = this.#identityOf(client)
    this.#leases.set(session, { account, identity, release })
    return identity
  }

  /** Undefined where its key is another now, or its time is over. */
  #restore(found: FoundSession): Session | undefined {
    const { access, clock, keeper } = this.#modules
    const account = access.accountNamed(found.key.account)
    if (found.leftMs <= 0 || account?.userId !== found.own) {
      found.drop()
      return undefined
    }
    const session = this.#sessions.restore(found, found.journal, clock.monotonicMs())
    keeper.restored(session)
    return session
  }

  async #resumeAll(sessions: readonly Session[]): Promise<void> {
    const left = sessions.values()
    const work = async () => {
      for (const session of left) await this.#resume(session)
    }
    await Promise.all(Array.from({ length: this.#limits.maxResuming }, work))
  }

  /** Subscribes again for a session of the node before this one. */
  async #resume(session: Session): Promise<void> {
    const { access, clock, logger } = this.#modules
    const account = access.accountNamed(session.key.account)
    if (this.#isStopped || account === undefined || !this.#sessions.has(session)) return
    try {
      const { client, release } = await account.acquire()
      if (!this.#sessions.has(session)) return release()
      const { feeds } = this.#lease(session, { account, client, release })
      for (const subscription of [...session.subscriptions.values()]) await feeds.add(subscription)
    } catch (err) {
      if (this.#isStopped) return
      logger.warn({ err, ...session.key }, 'an MQTT session is not subscribed again yet')
      clock.schedule(this.#limits.resumeAgainMs, () => void this.#resume(session))
    }
  }

  #keep(session: Session, waitsMs: number | undefined): void {
    const wasKept = session.journal !== undefined
    this.#modules.keeper.changed(session, waitsMs)
    if (wasKept || session.journal === undefined) return
    const feeds = this.#leases.get(session)?.identity.feeds
    for (const subscription of session.subscriptions.values()) feeds?.keep(subscription)
  }

  #identityOf(client: RunnelClient): Identity {
    const known = this.#identities.get(client)
    if (known !== undefined) return known
    const { clock, keeper, logger } = this.#modules
    const idOf = (feedId: string) => `${client.account} ${feedId}`
    const events: FeedsEvents = {
      places: (feedId) => keeper.feed(idOf(feedId)),
      wasKept: (feedId) => keeper.wasKept(idOf(feedId)),
      closed: (feedId) => keeper.feedClosed(idOf(feedId)),
      missed: () => void this.counters.missedDelivered++,
      failed: (err) => logger.warn({ err }, 'what MQTT sessions missed is not read yet'),
      maySee: (subscription, streamId) => this.#maySee(subscription, streamId),
      delivered: (subscription, delivery) => {
        this.counters.delivered++
        if (delivery.isRetained) this.#retained.overtaken(subscription, delivery)
      },
    }
    const feeds = new Feeds(client, this.#limits, { clock, events })
    const identity = { client, feeds, publishing: 0, publishingBytes: 0 }
    this.#identities.set(client, identity)
    return identity
  }

  /** Resolves to what finds its retained messages. */
  async #subscribe(session: Session, { filter: name, options }: SubscriptionRequest): Promise<() => void> {
    const lease = this.#leases.get(session)
    if (lease === undefined) throw new MqttProblem(Reason.unspecified, 'the session has ended')
    const { identity } = lease
    const filter = filterOf(name, session.own)
    const before = session.subscriptions.get(name)
    if (before === undefined && session.subscriptions.size >= this.#limits.maxSubscriptions)
      throw new MqttProblem(
        Reason.quotaExceeded,
        `a session has at most ${this.#limits.maxSubscriptions} filters`,
      )
    const sinceMs = before?.sinceMs ?? this.#modules.clock.now()
    const subscription: SessionSubscription = { session, name, filter, options, sinceMs }
    if (!filter.target.endsWith('/#') && !this.#maySee(subscription, filter.target))
      throw new MqttProblem(Reason.notAuthorized, 'the key is not for subscribing to this stream')
    session.subscriptions.set(name, subscription)
    try {
      await identity.feeds.add(subscription)
    } catch (error) {
      if (session.subscriptions.get(name) === subscription) session.subscriptions.delete(name)
      throw error
    } finally {
      if (before !== undefined) identity.feeds.remove(before)
    }
    const wantsRetained =
      filter.group === undefined &&
      (options.retainHandling === 0 || (options.retainHandling === 1 && before === undefined))
    return () => {
      if (wantsRetained) this.#retained.begin(identity.client, subscription)
    }
  }

  #maySee({ session }: SessionSubscription, streamId: string): boolean {
    const account = this.#leases.get(session)?.account
    return account?.maySubscribe(streamId as Parameters<GatewayAccount['maySubscribe']>[0]) === true
  }

  #forget(session: Session): void {
    this.#modules.keeper.ended(session)
    const lease = this.#leases.get(session)
    if (lease === undefined) return
    for (const subscription of session.subscriptions.values()) lease.identity.feeds.remove(subscription)
    this.#leases.delete(session)
    lease.release()
    const isUsed = [...this.#leases.values()].some(({ identity }) => identity === lease.identity)
    if (!isUsed) this.#identities.delete(lease.identity.client)
  }

  /** Its key was taken away or changed: sessions begin anew with what it may now. */
  #endAccount(name: string): void {
    for (const { conversation, session } of [...this.#connections.keys()])
      if (session?.key.account === name)
        conversation.fail(new MqttProblem(Reason.notAuthorized, 'the key was changed or taken away'))
    this.#sessions.endAccount(name)
  }

  #problemOf(error: unknown): MqttProblem {
    const problem = problemOf(error)
    if (problem instanceof MqttProblem) return problem
    this.counters.faults++
    this.#modules.logger.error({ err: error }, 'an MQTT client cannot be served')
    return new MqttProblem(Reason.unspecified, 'an error of the gateway')
  }
}

/** Of which it is kept how far its session has them. */
function keptFeedsOf({ own, subscriptions }: Session): readonly string[] {
  const kept = [...subscriptions.values()].filter(({ options }) => options.qos > 0)
  return kept.map(({ filter }) => `${own} ${feedIdOf(filter)}`)
}

function unknownClient(password: Buffer | undefined, certificateFingerprint: string | undefined): MqttProblem {
  if (password !== undefined)
    return new MqttProblem(Reason.badCredentials, 'no such key: the password is a key of the gateway')
  const why =
    certificateFingerprint === undefined
      ? 'there is no key: the password is a key of the gateway'
      : `no key has this certificate: ${certificateFingerprint}`
  return new MqttProblem(Reason.notAuthorized, why)
}
