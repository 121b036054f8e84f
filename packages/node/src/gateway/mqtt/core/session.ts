import type { NodeId } from '@runnel/protocol'
import type { MqttLimits } from '../limits.ts'
import { Outbox, type Held, type OutboxJournal } from './outbox.ts'
import type { QueueShares } from './queue-shares.ts'
import type { MqttProblem } from './reasons.ts'
import type { Delivery } from './to-mqtt.ts'
import type { MqttMessage } from './to-runnel.ts'
import { filterOf, topicOf, type Filter, type Topic } from './topics.ts'

/** How a client wants the messages of one filter. */
export interface SubscriptionOptions {
  readonly qos: 0 | 1 | 2
  /** Not what this session published itself. */
  readonly noLocal: boolean
  /** RETAIN as it was published; else it is set on what the subscription begins with only. */
  readonly retainAsPublished: boolean
  /** 0: send retained messages; 1: where there was no such subscription; 2: do not. */
  readonly retainHandling: number
  readonly subscriptionId: number | undefined
}

/** One filter of a session. */
export interface SessionSubscription {
  readonly session: Session
  /** The filter as the client wrote it, by which it unsubscribes. */
  readonly name: string
  readonly filter: Filter
  readonly options: SubscriptionOptions
  /** Unix milliseconds: what was published before is not for it. */
  readonly sinceMs: number
}

/** Notes what changes of a session that outlives its connection, so that it outlasts the process. */
export interface SessionJournal extends OutboxJournal {
  /** Its subscriptions are others, what it has received, or how long it lasts. */
  touched(): void
}

/** What a process left of a session. */
export interface KeptSession {
  readonly key: SessionKey
  readonly own: NodeId
  readonly origin: string
  readonly expiryS: number
  /** How long it still waits for its client. */
  readonly leftMs: number
  /** Its client was connected when that process ended, and has not been since. */
  readonly wasThere: boolean
  /** One with a delay. */
  readonly will: Will | undefined
  readonly subscriptions: readonly Omit<SessionSubscription, 'session' | 'filter'>[]
  readonly received: readonly number[]
  /** In order. */
  readonly held: readonly Held[]
}

/** Where a session's client is, if it is there. */
export interface SessionLink {
  /** There may be something to send. */
  wake(): void
  /** Another connection took over the session. */
  takeOver(): void
}

/** Where a message of QoS 2 came last, while it is being published. */
export interface Taking {
  readonly link: SessionLink
  /** Says there that it is taken, or why it is not. */
  answer(result: number | MqttProblem): void
}

export interface Will extends MqttMessage {
  /** Seconds that it waits for the client to come back. */
  readonly delayS: number
}

export interface SessionKey {
  /** The name of the account. */
  readonly account: string
  readonly clientId: string
}

/** What a server keeps of a client between its connections (MQTT 5, section 4.1). */
export class Session {
  readonly key: SessionKey
  /** What it marks its messages with where it does not want them back. */
  readonly origin: string
  readonly outbox: Outbox
  /** By filter, as the client wrote it. */
  readonly subscriptions = new Map<string, SessionSubscription>()
  /** Ids of messages of QoS 2 that were taken and not yet released. */
  readonly received = new Set<number>()
  /** Those that are being taken, by id: whoever sends one again is answered once it is known whether it is. */
  readonly taking = new Map<number, Taking>()
  /** Whose streams topics without an owner are. */
  readonly own: NodeId
  /** Seconds it outlives its connection. */
  expiryS = 0
  will: Will | undefined
  #link: SessionLink | undefined
  #journal: SessionJournal | undefined

  #last: { readonly text: string; readonly topic: Topic } | undefined

  constructor(key: SessionKey, own: NodeId, origin: string, limits: MqttLimits, shares: QueueShares) {
    this.key = key
    this.own = own
    this.origin = origin
    this.outbox = new Outbox(limits, key.account, shares)
  }

  /** What a topic names; most clients publish to one again and again. Throws MqttProblem. */
  topic(text: string): Topic {
    if (this.#last?.text !== text) this.#last = { text, topic: topicOf(text, this.own) }
    return this.#last.topic
  }

  /** Undefined where it ends with the process. */
  get journal(): SessionJournal | undefined {
    return this.#journal
  }

  /** Notes everything there from now on, or nothing any more. */
  keepIn(journal: SessionJournal | undefined): void {
    this.#journal = journal
    this.outbox.keepIn(journal)
    journal?.touched()
  }

  /** Goes on with what another process left. */
  restore({ subscriptions, received, held, expiryS, will }: KeptSession, journal: SessionJournal): void {
    this.#journal = journal
    this.expiryS = expiryS
    this.will = will
    for (const id of received) this.received.add(id)
    for (const one of subscriptions)
      this.subscriptions.set(one.name, { ...one, session: this, filter: filterOf(one.name, this.own) })
    this.outbox.restore(held, journal)
  }

  get isConnected(): boolean {
    return this.#link !== undefined
  }

  get link(): SessionLink | undefined {
    return this.#link
  }

  attach(link: SessionLink, receiveMaximum: number): void {
    this.#link = link
    this.outbox.attach(receiveMaximum)
  }

  detach(): void {
    this.#link = undefined
    this.outbox.detach()
  }

  /** Whether it subscribes to something that must not have its own messages. */
  get wantsNotItsOwn(): boolean {
    for (const { options } of this.subscriptions.values()) if (options.noLocal) return true
    return false
  }

  /** `isFirst`: it is a retained message, which the subscription begins with. */
  deliver(delivery: Delivery, { filter, options }: SessionSubscription, isFirst = false): void {
    if (options.noLocal && delivery.origin === this.origin) return
    const qos = options.qos < delivery.qos ? options.qos : delivery.qos
    this.outbox.add({
      ...{ delivery, form: filter.form, qos, subscriptionId: options.subscriptionId },
      retain: isFirst || (options.retainAsPublished && delivery.isRetained),
    })
    this.#link?.wake()
  }
}
