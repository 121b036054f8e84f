import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Clock } from '@runnel/protocol'
import type { IConnectPacket } from 'mqtt-packet'
import type { GatewayAccess } from '../access/access.ts'
import type { Logger } from '../../logger.ts'
import { Admission } from './admission.ts'
import { Connection, type Peer } from './connection.ts'
import type { SubscriptionRequest } from './core/conversation.ts'
import { MqttProblem, Reason } from './core/reasons.ts'
import type { Session, SessionSubscription } from './core/session.ts'
import { Sessions } from './core/sessions.ts'
import type { MqttMessage } from './core/to-runnel.ts'
import { filterOf } from './core/topics.ts'
import type { Counters, Gauges } from './counters.ts'
import type { SessionKeeper } from './keeping/session-keeper.ts'
import { Leases } from './leases.ts'
import type { MqttLimits } from './limits.ts'
import { problemOf, publishMessage, type PublishSettings } from './publishing.ts'
import { RefusalLog } from './refusal-log.ts'
import { Resuming } from './resuming.ts'
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

/** How often keep alives, sessions and wills are looked at. */
const tickMs = 1_000
/** A client that sends more than it may is looked at again after this long. */
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
  readonly #connections = new Set<Connection>()
  readonly #leases: Leases
  readonly #resuming: Resuming
  readonly #admission: Admission
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
        publishWill: (session, will) => this.#publishWill(session, will),
        changed: (session, waitsMs) => this.#keep(session, waitsMs),
      },
    })
    this.#retained = new Retained(limits, {
      clock: modules.clock,
      maySee: (subscription, streamId) => this.#leases.maySee(subscription, streamId),
      failed: (err) => modules.logger.debug({ err }, 'a retained message was not found'),
      skipped: (count) => (this.counters.skippedRetained += count),
    })
    const { counters } = this
    this.#leases = new Leases(limits, {
      ...modules,
      joined: (own) => this.#resuming.joined(own),
      delivered: (subscription, delivery) => {
        counters.delivered++
        if (delivery.isRetained) this.#retained.overtaken(subscription, delivery)
      },
    })
    this.#resuming = new Resuming(limits, { ...modules, sessions: this.#sessions, leases: this.#leases })
    this.#admission = new Admission({
      ...{ ...modules, leases: this.#leases, refusals: this.#refusals },
      connectionOf: ({ account, clientId }) =>
        [...this.#connections].findLast(({ session }) => {
          return session?.key.account === account && session.key.clientId === clientId
        }),
    })
  }

  get gauges(): Gauges {
    const { size: sessions, away: awaySessions } = this.#sessions
    return { connections: this.#connections.size, sessions, awaySessions }
  }

  /** Goes on with the sessions of the node before this one; what they missed comes meanwhile. */
  start(): void {
    const { access, clock } = this.#modules
    this.#resuming.start()
    this.#stopListening = access.on('changed', (name) => this.#endAccount(name))
    const tick = () => {
      const nowMs = clock.monotonicMs()
      this.#sessions.tick(nowMs)
      for (const connection of this.#connections) connection.tick(nowMs)
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
    this.#resuming.stop()
    this.#modules.keeper.close()
    for (const { conversation } of this.#connections)
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
    this.#connections.add(connection)
  }

  /** A connection that there is no room for. */
  refused(): void {
    this.counters.refusedConnections++
  }

  authenticate(connection: Connection, connect: IConnectPacket): void {
    this.#admission.authenticate(connection, connect)
  }

  publish(session: Session, message: MqttMessage, done: (result: number | MqttProblem) => void): void {
    const lease = this.#leases.of(session)
    if (lease === undefined) return done(new MqttProblem(Reason.unspecified, 'the session has ended'))
    const { account, identity } = lease
    const bytes = message.payload.length
    identity.publishing++
    identity.publishingBytes += bytes
    const publisher = { account, session, client: identity.client }
    void this.#counted('a message of an MQTT client', session, () =>
      publishMessage(message, publisher, this.#settings, this.#modules.clock),
    )
      .then(done)
      .finally(() => {
        identity.publishing--
        identity.publishingBytes -= bytes
      })
  }

  /** Counts what becomes of a message, and tells of a refusal: resolves to it. */
  async #counted(
    what: string,
    session: Session,
    publish: () => Promise<number>,
  ): Promise<number | MqttProblem> {
    try {
      const reason = await publish()
      this.counters.published++
      return reason
    } catch (error) {
      this.counters.publishRefused++
      const problem = this.#problemOf(error)
      this.#refusals.add(what, problem.message, session.key)
      return problem
    }
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
    this.#leases.of(session)?.identity.feeds.remove(subscription)
    return true
  }

  takeRate(session: Session, bytes: number): number {
    const lease = this.#leases.of(session)
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
    connection.countOut()
    this.#connections.delete(connection)
  }

  #publishWill(session: Session, will: MqttMessage): void {
    if (this.#leases.of(session) === undefined) void this.#publishLeftWill(session, will)
    else this.publish(session, will, () => {})
  }

  /** Of a session that an earlier node left, and for which nobody acts yet. */
  async #publishLeftWill(session: Session, will: MqttMessage): Promise<void> {
    const { access, clock } = this.#modules
    const account = access.accountNamed(session.key.account)
    if (account === undefined) return
    await this.#counted('the will of an MQTT client', session, async () => {
      const { client, release } = await account.acquire()
      return publishMessage(will, { account, session, client }, this.#settings, clock).finally(release)
    })
  }

  #keep(session: Session, waitsMs: number | undefined): void {
    const wasKept = session.journal !== undefined
    this.#modules.keeper.changed(session, waitsMs)
    if (wasKept || session.journal === undefined) return
    const feeds = this.#leases.of(session)?.identity.feeds
    for (const subscription of session.subscriptions.values()) feeds?.keep(subscription)
  }

  /** Resolves to what finds its retained messages. */
  async #subscribe(session: Session, { filter: name, options }: SubscriptionRequest): Promise<() => void> {
    const lease = this.#leases.of(session)
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
    if (!this.#leases.mayFollow(session, filter))
      throw new MqttProblem(Reason.notAuthorized, 'the key is not for subscribing to any such stream')
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

  #forget(session: Session): void {
    this.#modules.keeper.ended(session)
    this.#leases.end(session)
  }

  /** Its key was taken away or changed: sessions begin anew with what it may now. */
  #endAccount(name: string): void {
    for (const { conversation, session } of [...this.#connections])
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
