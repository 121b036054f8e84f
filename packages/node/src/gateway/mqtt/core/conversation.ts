import type { NodeId, Time } from '@runnel/protocol'
import type {
  IConnectPacket,
  IDisconnectPacket,
  IPublishPacket,
  ISubscribePacket,
  IUnsubscribePacket,
  Packet,
} from 'mqtt-packet'
import type { MqttLimits } from '../limits.ts'
import { AckOrder } from './ack-order.ts'
import { connackOf } from './connack.ts'
import type { Sending } from './outbox.ts'
import { MqttProblem, Reason, returnCodeOf } from './reasons.ts'
import type { Session, SessionLink, SubscriptionOptions, Will } from './session.ts'
import type { Sessions } from './sessions.ts'
import { publishOf } from './to-mqtt.ts'
import type { MqttMessage } from './to-runnel.ts'
import { TopicAliases } from './topic-aliases.ts'

/** One filter of a SUBSCRIBE. */
export interface SubscriptionRequest {
  readonly filter: string
  readonly options: SubscriptionOptions
}

export interface ConversationEffects {
  /** False when the packet is longer than the client takes. */
  send(packet: Packet, maxBytes: number): boolean
  /** Whether the client reads what it is sent. */
  readonly isWritable: boolean
  /** Closes the connection behind what was sent. */
  end(): void
  /** Finds out who it is, and calls `admit` or `refuse`. */
  authenticate(connect: IConnectPacket): void
  /** Reports a reason, or why it was not published. */
  publish(session: Session, message: MqttMessage, done: (result: number | MqttProblem) => void): void
  /** Reports a reason for each, and why the first was refused. */
  subscribe(
    session: Session,
    requests: readonly SubscriptionRequest[],
    done: (reasons: readonly number[], text: string | undefined) => void,
  ): void
  /** False where there was no such subscription. */
  unsubscribe(session: Session, filter: string): boolean
}

export interface ConversationModules {
  readonly sessions: Sessions
  readonly effects: ConversationEffects
  readonly time: () => Time
}

/** Who a client is. */
export interface Admitted {
  readonly account: string
  /** Whose streams topics without an owner are. */
  readonly own: NodeId
  /** What the client is called, unless it says so. */
  readonly assignedClientId: string
}

/**
 * What a server says and hears on one connection (MQTT 3.1.1 and 5, section 4): takes decoded packets, and tells its effects what to do.
 * Throws MqttProblem for what ends the connection; `fail` ends it.
 */
export class Conversation implements SessionLink {
  readonly #limits: MqttLimits
  readonly #modules: ConversationModules
  readonly #aliases: TopicAliases
  readonly #acks: AckOrder
  #state: 'new' | 'admitting' | 'open' | 'ended' = 'new'
  #connect: IConnectPacket | undefined
  #version = 5
  #session: Session | undefined
  #publishing = 0
  #subscribing = 0
  #unacknowledged = 0
  #isGraceful = false
  #heardMs: number

  constructor(limits: MqttLimits, modules: ConversationModules) {
    this.#limits = limits
    this.#modules = modules
    this.#aliases = new TopicAliases(limits)
    this.#acks = new AckOrder((packet) => this.#send(packet))
    this.#heardMs = modules.time().nowMs
  }

  get version(): number {
    return this.#version
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get hasEnded(): boolean {
    return this.#state === 'ended'
  }

  /** Whether its packets can wait: it is being admitted, or has more under way than it may. */
  get isBusy(): boolean {
    const { maxPublishing, maxSubscribing } = this.#limits
    return (
      this.#state === 'admitting' || this.#publishing >= maxPublishing || this.#subscribing >= maxSubscribing
    )
  }

  receive(packet: Packet): void {
    if (this.#state === 'ended') return
    this.#heardMs = this.#modules.time().nowMs
    if (packet.cmd === 'connect') return this.#connected(packet)
    if (this.#session === undefined)
      throw new MqttProblem(Reason.protocolError, 'the first packet is CONNECT')
    switch (packet.cmd) {
      case 'publish':
        return this.#publish(packet, this.#session)
      case 'puback':
        this.#session.outbox.acknowledge(packet.messageId ?? 0)
        return this.wake()
      case 'pubrec':
        return this.#received(packet.messageId ?? 0, packet.reasonCode ?? 0, this.#session)
      case 'pubcomp':
        this.#session.outbox.acknowledge(packet.messageId ?? 0)
        return this.wake()
      case 'pubrel':
        return this.#release(packet.messageId ?? 0, this.#session)
      case 'subscribe':
        return this.#subscribe(packet, this.#session)
      case 'unsubscribe':
        return this.#unsubscribe(packet, this.#session)
      case 'pingreq':
        return void this.#send({ cmd: 'pingresp' })
      case 'disconnect':
        return this.#disconnect(packet, this.#session)
      default:
        throw new MqttProblem(Reason.protocolError, `${packet.cmd} is for nothing here`)
    }
  }

  /** It is one of an account: begins its session, or goes on with it. */
  admit({ account, own, assignedClientId }: Admitted): Session | undefined {
    const connect = this.#connect
    if (this.#state !== 'admitting' || connect === undefined) return undefined
    const clientId = connect.clientId === '' ? assignedClientId : connect.clientId
    const { session, isPresent } = this.#modules.sessions.connect(
      { account, clientId },
      {
        cleanStart: connect.clean === true,
        expiryS: this.#expiryOf(connect),
        receiveMaximum: connect.properties?.receiveMaximum ?? 65_535,
        will: willOf(connect),
        link: this,
        own,
      },
    )
    this.#session = session
    this.#state = 'open'
    keep(session)
    this.#send(connackOf(connect, { isPresent, clientId, expiryS: session.expiryS, limits: this.#limits }))
    this.wake()
    return session
  }

  /** Answers CONNECT with a reason, and ends. */
  refuse({ reason, message }: MqttProblem): void {
    if (this.#state === 'ended') return
    this.#send(
      this.#version === 5
        ? { cmd: 'connack', reasonCode: reason, sessionPresent: false, properties: { reasonString: message } }
        : { cmd: 'connack', returnCode: returnCodeOf(reason), sessionPresent: false },
    )
    this.#end()
  }

  /** Ends it because of what the client did, or what happened to the gateway. */
  fail(problem: MqttProblem): void {
    if (this.#state === 'ended') return
    const { reason, message } = problem
    if (this.#state === 'open' && this.#version === 5)
      this.#send({ cmd: 'disconnect', reasonCode: reason, properties: { reasonString: message } })
    else if (reason === Reason.unsupportedVersion)
      // One that no version after 3.1.1 can misread.
      this.#modules.effects.send(
        { cmd: 'connack', returnCode: 1, reasonCode: reason, sessionPresent: false },
        Infinity,
      )
    // A client that began with something else is told nothing (section 3.1.4).
    else if (this.#connect !== undefined && this.#state !== 'open') return this.refuse(problem)
    this.#end()
  }

  takeOver(): void {
    this.#session = undefined
    this.fail(new MqttProblem(Reason.takenOver, 'the client connected again'))
  }

  /** To be called every second. */
  tick(nowMs: number): void {
    if (this.#state === 'new' && nowMs - this.#heardMs > this.#limits.connectTimeoutMs) this.#end()
    const keepAliveMs = 1000 * (this.#connect?.keepalive ?? 0)
    if (this.#state === 'open' && keepAliveMs > 0 && nowMs - this.#heardMs > 1.5 * keepAliveMs)
      this.fail(new MqttProblem(Reason.keepAliveTimeout, 'nothing came within 1.5 times the keep alive'))
  }

  /** The connection is gone, or its client said that it goes. Idempotent. */
  closed(nowMs: number): void {
    this.#state = 'ended'
    const session = this.#session
    this.#session = undefined
    if (session !== undefined) this.#modules.sessions.disconnected(session, this.#isGraceful, nowMs)
  }

  /** Sends what waits, as far as the client takes it. */
  wake(): void {
    const { effects, time } = this.#modules
    if (this.#state !== 'open' || this.#session === undefined) return
    const { outbox } = this.#session
    while (effects.isWritable) {
      const sending = outbox.next(time().wallMs)
      if (sending === undefined) return
      if ('releases' in sending) {
        this.#send({ cmd: 'pubrel', messageId: sending.releases })
        continue
      }
      const isSent = this.#send(this.#packetOf(sending))
      // It counts as sent (MQTT 5, section 3.1.2.11.4).
      if (!isSent && sending.messageId !== undefined) outbox.acknowledge(sending.messageId)
    }
  }

  #connected(connect: IConnectPacket): void {
    if (this.#state !== 'new') throw new MqttProblem(Reason.protocolError, 'a second CONNECT')
    this.#connect = connect
    this.#version = connect.protocolVersion ?? 4
    const isRepeatable = connect.clientId !== '' || this.#version === 5 || connect.clean === true
    if (!isRepeatable)
      return this.refuse(new MqttProblem(Reason.clientIdInvalid, 'a session needs a client id'))
    if (connect.properties?.authenticationMethod !== undefined)
      return this.refuse(new MqttProblem(Reason.badMethod, 'there is no enhanced authentication'))
    if (connect.properties?.receiveMaximum === 0)
      return this.refuse(new MqttProblem(Reason.protocolError, 'a Receive Maximum of 0'))
    this.#state = 'admitting'
    this.#modules.effects.authenticate(connect)
  }

  #publish(packet: IPublishPacket, session: Session): void {
    const { qos, messageId = 0, properties } = packet
    const topic = this.#aliases.resolve(packet.topic, properties?.topicAlias)
    if (qos === 2 && session.received.has(messageId)) return void this.#send({ cmd: 'pubrec', messageId })
    const underWay = qos === 2 ? session.taking.get(messageId) : undefined
    if (underWay?.link === this) return
    if (underWay === undefined) this.#countIn(qos, session)
    const answer = this.#answering(qos, messageId, session)
    if (qos === 2) session.taking.set(messageId, { link: this, answer })
    if (underWay !== undefined) return
    const { payload, retain } = packet
    const message = { topic, payload: payload as Buffer, qos, retain, properties }
    this.#publishing++
    this.#modules.effects.publish(session, message, (result) => {
      this.#publishing--
      if (qos === 1) this.#unacknowledged--
      if (qos === 2) take(session, messageId, result)
      else answer(result)
    })
  }

  /** Throws what ends a client that takes no notice of the Receive Maximum. Before MQTT 5 there is none for QoS 1. */
  #countIn(qos: number, { received, taking }: Session): void {
    if (qos === 1) this.#unacknowledged++
    if (qos === 0 || (qos === 1 && this.#version !== 5)) return
    const ofQos1 = this.#version === 5 ? this.#unacknowledged : 0
    const ofQos2 = received.size + taking.size + (qos === 2 ? 1 : 0)
    if (ofQos1 + ofQos2 > this.#limits.receiveMaximum)
      throw new MqttProblem(Reason.receiveMaximum, 'more messages than the Receive Maximum')
  }

  /** Tells its client in turn what became of a message. */
  #answering(qos: number, messageId: number, session: Session): (result: number | MqttProblem) => void {
    if (qos === 0) return () => {}
    const acknowledge = this.#acks.open()
    const cmd = qos === 1 ? 'puback' : 'pubrec'
    return (result) => {
      if (!(result instanceof MqttProblem)) {
        if (qos === 2) keep(session)
        return acknowledge({ cmd, messageId, reasonCode: result })
      }
      const { reason, message } = result
      if (this.#version === 5)
        return acknowledge({ cmd, messageId, reasonCode: reason, ...this.#why(message) })
      // It can be acknowledged or not (3.1.1, section 3.3.5); acknowledged, its publisher would take it for published.
      this.fail(result)
    }
  }

  /** The client has a message of QoS 2, or does not want it. */
  #received(messageId: number, reason: number, { outbox }: Session): void {
    if (reason >= 0x80) {
      outbox.acknowledge(messageId)
      return this.wake()
    }
    const isKnown = outbox.release(messageId)
    this.#send({ cmd: 'pubrel', messageId, ...(isKnown ? {} : { reasonCode: Reason.packetIdNotFound }) })
  }

  #release(messageId: number, session: Session): void {
    session.received.delete(messageId)
    session.journal?.touched()
    this.#send({ cmd: 'pubcomp', messageId })
  }

  #subscribe({ messageId = 0, subscriptions, properties }: ISubscribePacket, session: Session): void {
    const subscriptionId = properties?.subscriptionIdentifier
    // A bridge of 3.1.1 says what it is by a bit of its version, as it cannot say that it wants these.
    const isBridge = this.#connect !== undefined && 'bridgeMode' in this.#connect
    const requests = subscriptions.map(({ topic, qos, nl = false, rap = false, rh = 0 }) => {
      if (nl && topic.startsWith('$share/'))
        throw new MqttProblem(Reason.protocolError, 'No Local on a shared subscription')
      return {
        filter: topic,
        options: {
          ...{ qos, retainHandling: rh, subscriptionId },
          ...{ noLocal: nl || isBridge, retainAsPublished: rap || isBridge },
        },
      }
    })
    this.#subscribing++
    this.#modules.effects.subscribe(session, requests, (reasons, text) => {
      this.#subscribing--
      keep(session)
      if (this.#version !== 5)
        return void this.#send({
          cmd: 'suback',
          messageId,
          granted: reasons.map((reason) => Math.min(reason, 0x80)),
        })
      this.#send({ cmd: 'suback', messageId, granted: [...reasons], ...this.#why(text) })
    })
  }

  #unsubscribe({ messageId = 0, unsubscriptions }: IUnsubscribePacket, session: Session): void {
    const granted = unsubscriptions.map((filter) =>
      this.#modules.effects.unsubscribe(session, filter) ? Reason.success : Reason.noSubscriptionExisted,
    )
    if (granted.includes(Reason.success)) keep(session)
    this.#send({ cmd: 'unsuback', messageId, granted })
  }

  #disconnect({ reasonCode, properties }: IDisconnectPacket, session: Session): void {
    const expiryS = properties?.sessionExpiryInterval
    if (expiryS !== undefined) {
      if (session.expiryS === 0 && expiryS > 0)
        throw new MqttProblem(Reason.protocolError, 'a session that ends with its connection cannot be kept')
      session.expiryS = this.#lowered(expiryS)
    }
    // With any other reason the will is published (MQTT 5, section 3.1.2.5).
    this.#isGraceful = (reasonCode ?? 0) === 0
    this.#end()
    // Before its connection is closed the client may be back, or others of its group may be there.
    this.closed(this.#modules.time().nowMs)
  }

  #packetOf({ delivery, form, qos, retain, dup, messageId, subscriptionId }: Sending): IPublishPacket {
    const { topic, properties } = publishOf(delivery, form, this.#modules.time().wallMs)
    const packet: IPublishPacket = {
      ...{ cmd: 'publish', topic, payload: delivery.payload, qos, retain, dup },
      ...(messageId === undefined ? {} : { messageId }),
    }
    if (this.#version !== 5) return packet
    const identifier = subscriptionId === undefined ? {} : { subscriptionIdentifier: subscriptionId }
    return { ...packet, properties: { ...properties, ...identifier } }
  }

  #expiryOf({ clean, properties }: IConnectPacket): number {
    if (this.#version === 5) return this.#lowered(properties?.sessionExpiryInterval ?? 0)
    return clean === true ? 0 : this.#limits.maxSessionExpiryS
  }

  #lowered(expiryS: number): number {
    return Math.min(expiryS, this.#limits.maxSessionExpiryS)
  }

  /** Only CONNACK and DISCONNECT say so unasked (section 3.1.2.11.7). */
  #why(reasonString: string | undefined): { readonly properties?: { reasonString: string } } {
    const isWanted = this.#connect?.properties?.requestProblemInformation !== false
    return reasonString === undefined || !isWanted ? {} : { properties: { reasonString } }
  }

  #send(packet: Packet): boolean {
    if (this.#state === 'ended') return true
    return this.#modules.effects.send(packet, this.#connect?.properties?.maximumPacketSize ?? Infinity)
  }

  #end(): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#modules.effects.end()
  }
}

/** What its client is told next is so after a restart as well. */
function keep({ journal }: Session): void {
  journal?.touched()
  journal?.flush()
}

/** The message of QoS 2 is published, or not: then its id is free again. Answers on the connection on which it came last. */
function take({ taking, received }: Session, messageId: number, result: number | MqttProblem): void {
  const last = taking.get(messageId)
  taking.delete(messageId)
  if (!(result instanceof MqttProblem)) received.add(messageId)
  last?.answer(result)
}

function willOf({ will }: IConnectPacket): Will | undefined {
  if (will === undefined) return undefined
  const { topic, payload, qos = 0, retain = false, properties } = will
  const { willDelayInterval: delayS = 0, ...rest } = properties ?? {}
  return { topic, payload: Buffer.from(payload), qos, retain, delayS, properties: rest }
}
