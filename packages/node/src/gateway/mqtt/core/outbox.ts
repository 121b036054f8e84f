import type { MqttLimits } from '../limits.ts'
import type { QueueShares, SharingQueue } from './queue-shares.ts'
import type { Delivery } from './to-mqtt.ts'
import type { TopicForm } from './topics.ts'

/** A message for one client, and how its subscription wants it. */
export interface Outgoing {
  readonly delivery: Delivery
  readonly form: TopicForm
  readonly qos: 0 | 1 | 2
  readonly retain: boolean
  readonly subscriptionId: number | undefined
}

/** One that is to be sent now. */
export interface Sending extends Outgoing {
  /** Of QoS 1 and 2. */
  readonly messageId: number | undefined
  /** It was sent before. */
  readonly dup: boolean
}

/** A message of QoS 2 that the client has, and is to be told so again. */
export interface Releasing {
  readonly releases: number
}

/** What an outbox has of one message of QoS 1 or 2, from when it waits until it is settled. */
export interface Held {
  /** Undefined of one of QoS 2 that the client has, and whose release is not settled. */
  readonly message: Outgoing | undefined
  /** Once it was sent. */
  readonly messageId: number | undefined
}

/** Notes what becomes of messages of QoS 1 and 2, where a session outlives its connection. */
export interface OutboxJournal {
  /** It is new, or other than before. */
  changed(held: Held): void
  removed(held: Held): void
  /** When it returns, what was noted outlasts the process. */
  flush(): void
}

export type OutboxLimits = Pick<MqttLimits, 'maxInflight' | 'maxQueuedMessages' | 'maxQueuedBytes'>

/** In the queue. */
interface Waiting extends Held {
  readonly message: Outgoing
  readonly messageId: undefined
}

/** In flight. */
interface Sent extends Held {
  message: Outgoing | undefined
  readonly messageId: number
}

/** Packet identifiers have two bytes. */
const maxMessageId = 65_535

/**
 * The messages for one session: those that wait, in order, and those of QoS 1 and 2 that were sent and are not settled, which count until
 * the client has them. When there are too many, the oldest of QoS 0 that wait make room, and without any the oldest of the others.
 */
export class Outbox implements SharingQueue {
  readonly #limits: OutboxLimits
  readonly #account: string
  readonly #shares: QueueShares
  readonly #queue: Waiting[] = []
  readonly #inflight = new Map<number, Sent>()
  #journal: OutboxJournal | undefined
  /** Of those in flight, what was not yet sent over this connection. */
  #again = new Set<number>()
  /** How many may be in flight; 0 while there is no connection. */
  #window = 0
  #queuedBytes = 0
  /** Of them, those in flight. */
  #inflightBytes = 0
  #lastId = 0
  /** How many at the head of the queue are known not to be of QoS 0: they are not looked at again for each that is dropped. */
  #notOfQos0 = 0

  constructor(limits: OutboxLimits, account: string, shares: QueueShares) {
    this.#limits = limits
    this.#account = account
    this.#shares = shares
  }

  get bytes(): number {
    return this.#queuedBytes
  }

  get queued(): number {
    return this.#queue.length
  }

  get inflight(): number {
    return this.#inflight.size
  }

  /** From now on what changes is noted there, beginning with all there is; undefined: nowhere. */
  keepIn(journal: OutboxJournal | undefined): void {
    if (journal === this.#journal) return
    this.#journal = journal
    for (const held of [...this.#inflight.values(), ...this.#queue]) this.#changed(held)
  }

  /** What was kept of another outbox, in order, before anything else is added. */
  restore(kept: readonly Held[], journal: OutboxJournal): void {
    this.#journal = journal
    for (const held of kept as readonly (Waiting | Sent)[]) {
      if (isWaiting(held)) this.#queue.push(held)
      else this.#inflight.set(held.messageId, held)
      this.#lastId = Math.max(this.#lastId, held.messageId ?? 0)
      if (isWaiting(held)) this.#count(bytesOf(held.message))
      else if (held.message !== undefined) this.#countInflight(bytesOf(held.message))
    }
    this.#limit()
  }

  /** A client is there, which takes so many messages before it acknowledges the first. What it did not acknowledge is sent again. */
  attach(receiveMaximum: number): void {
    this.#window = Math.min(receiveMaximum, this.#limits.maxInflight)
    this.#again = new Set(this.#inflight.keys())
  }

  detach(): void {
    this.#window = 0
    // Of use to who is there only.
    for (let i = this.#queue.length - 1; i >= 0; i--) if (this.#queue[i]?.message.qos === 0) this.#remove(i)
  }

  /** Of QoS 0 only while a client is there. */
  add(message: Outgoing): void {
    if (message.qos === 0 && this.#window === 0) return
    const held: Waiting = { message, messageId: undefined }
    this.#queue.push(held)
    this.#changed(held)
    this.#count(bytesOf(message))
    this.#limit()
  }

  #limit(): void {
    const { maxQueuedMessages, maxQueuedBytes } = this.#limits
    while (
      this.#queue.length > 0 &&
      (this.#queue.length > maxQueuedMessages || this.#queuedBytes > maxQueuedBytes)
    )
      this.#drop()
    if (!this.#shares.isFull) return
    this.#shares.makeRoom()
    while (this.#shares.isFull && this.dropOldest()) continue
  }

  /** What waits for others does not keep a client that is there from its next message. */
  dropOldest(): boolean {
    if (this.#queue.length === 0 || (this.#window > 0 && this.#queue.length === 1)) return false
    this.#drop()
    return true
  }

  /** The next to send; undefined when there is none, or its turn comes with an acknowledgement. */
  next(wallMs: number): Sending | Releasing | undefined {
    const [again] = this.#again
    if (again !== undefined) return this.#nextAgain(again)
    for (;;) {
      const held = this.#queue[0]
      if (held === undefined || this.#window === 0) return undefined
      const { message } = held
      if (message.qos > 0 && this.#isWindowFull(bytesOf(message))) return undefined
      this.#take(0)
      this.#count(-bytesOf(message))
      const { expiresMs } = message.delivery
      if (expiresMs !== undefined && expiresMs <= wallMs) {
        this.#shares.totals.expired++
        this.#removed(held)
        continue
      }
      if (message.qos === 0) return { ...message, messageId: undefined, dup: false }
      const messageId = this.#newId()
      const sent: Sent = Object.assign(held, { messageId })
      this.#inflight.set(messageId, sent)
      this.#changed(sent)
      this.#countInflight(bytesOf(message))
      // A client takes no second message with an identifier that it knows, before its release (section 4.3.3).
      if (message.qos === 2) this.#journal?.flush()
      return { ...message, messageId, dup: false }
    }
  }

  /** The window is this client's, which may be smaller than that of the connection before. */
  #nextAgain(messageId: number): Sending | Releasing | undefined {
    const message = this.#inflight.get(messageId)?.message
    if (message !== undefined && this.#inflight.size - this.#again.size >= this.#window) return undefined
    this.#again.delete(messageId)
    return message === undefined ? { releases: messageId } : { ...message, messageId, dup: true }
  }

  /** It is settled: with PUBACK or PUBCOMP. False when no such message was sent. */
  acknowledge(messageId: number): boolean {
    const sent = this.#settle(messageId)
    if (sent === undefined) return false
    this.#inflight.delete(messageId)
    this.#removed(sent)
    return true
  }

  /** The client has a message of QoS 2 (PUBREC), and now waits for its release. False when no such message was sent. */
  release(messageId: number): boolean {
    const sent = this.#inflight.get(messageId)
    if (sent === undefined || (sent.message !== undefined && sent.message.qos !== 2)) return false
    this.#settle(messageId)
    sent.message = undefined
    this.#changed(sent)
    this.#journal?.flush()
    return true
  }

  /** Forgets everything. */
  clear(): void {
    while (this.#queue.length > 0) this.#remove(this.#queue.length - 1)
    this.#countInflight(-this.#inflightBytes)
    for (const sent of this.#inflight.values()) this.#removed(sent)
    this.#inflight.clear()
    this.#again.clear()
  }

  /** Half of the bytes may be in flight, or one message that is larger. */
  #isWindowFull(bytes: number): boolean {
    if (this.#inflight.size >= this.#window) return true
    return this.#inflightBytes > 0 && this.#inflightBytes + bytes > this.#limits.maxQueuedBytes / 2
  }

  /** The client has it: its content is no longer needed. */
  #settle(messageId: number): Sent | undefined {
    const sent = this.#inflight.get(messageId)
    if (sent?.message !== undefined) this.#countInflight(-bytesOf(sent.message))
    this.#again.delete(messageId)
    return sent
  }

  #drop(): void {
    const { totals } = this.#shares
    let at = this.#notOfQos0
    while (at < this.#queue.length && this.#queue[at]?.message.qos !== 0) at++
    this.#notOfQos0 = at
    const isOfQos0 = at < this.#queue.length
    if (isOfQos0) totals.droppedQos0++
    else totals.droppedQos1++
    this.#remove(isOfQos0 ? at : 0)
  }

  #remove(at: number): void {
    const held = this.#take(at)
    if (held === undefined) return
    this.#count(-bytesOf(held.message))
    this.#removed(held)
  }

  #take(at: number): Waiting | undefined {
    if (at < this.#notOfQos0) this.#notOfQos0--
    return at === 0 ? this.#queue.shift() : this.#queue.splice(at, 1)[0]
  }

  #changed(held: Waiting | Sent): void {
    if (held.message?.qos !== 0) this.#journal?.changed(held)
  }

  #removed(held: Waiting | Sent): void {
    if (held.message?.qos !== 0) this.#journal?.removed(held)
  }

  #countInflight(bytes: number): void {
    this.#inflightBytes += bytes
    this.#count(bytes)
  }

  #count(bytes: number): void {
    this.#queuedBytes += bytes
    this.#shares.count(this.#account, this, bytes)
  }

  #newId(): number {
    do this.#lastId = (this.#lastId % maxMessageId) + 1
    while (this.#inflight.has(this.#lastId))
    return this.#lastId
  }
}

function isWaiting(held: Waiting | Sent): held is Waiting {
  return held.messageId === undefined
}

/** A message counts with what it costs besides its payload, too. */
function bytesOf({ delivery }: Outgoing): number {
  return delivery.payload.length + 200
}
