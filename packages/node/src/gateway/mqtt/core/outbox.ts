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

export type OutboxLimits = Pick<MqttLimits, 'maxInflight' | 'maxQueuedMessages' | 'maxQueuedBytes'>

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
  readonly #queue: Outgoing[] = []
  readonly #inflight = new Map<number, Outgoing | 'released'>()
  /** Of those in flight, what is to be sent again. */
  #again: number[] = []
  /** How many may be in flight; 0 while there is no connection. */
  #window = 0
  #queuedBytes = 0
  /** Of them, those in flight. */
  #inflightBytes = 0
  #lastId = 0

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

  /** A client is there, which takes so many messages before it acknowledges the first. What it did not acknowledge is sent again. */
  attach(receiveMaximum: number): void {
    this.#window = Math.min(receiveMaximum, this.#limits.maxInflight)
    this.#again = [...this.#inflight.keys()]
  }

  detach(): void {
    this.#window = 0
    // Of use to who is there only.
    for (let i = this.#queue.length - 1; i >= 0; i--) if (this.#queue[i]?.qos === 0) this.#remove(i)
  }

  /** Of QoS 0 only while a client is there. */
  add(message: Outgoing): void {
    if (message.qos === 0 && this.#window === 0) return
    this.#queue.push(message)
    this.#count(bytesOf(message))
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
    const again = this.#again.shift()
    const unacknowledged = again === undefined ? undefined : this.#inflight.get(again)
    if (again !== undefined && unacknowledged !== undefined)
      return unacknowledged === 'released'
        ? { releases: again }
        : { ...unacknowledged, messageId: again, dup: true }
    for (;;) {
      const message = this.#queue[0]
      if (message === undefined || this.#window === 0) return undefined
      if (message.qos > 0 && this.#isWindowFull(bytesOf(message))) return undefined
      this.#remove(0)
      const { expiresMs } = message.delivery
      if (expiresMs !== undefined && expiresMs <= wallMs) {
        this.#shares.totals.expired++
        continue
      }
      if (message.qos === 0) return { ...message, messageId: undefined, dup: false }
      const messageId = this.#newId()
      this.#inflight.set(messageId, message)
      this.#countInflight(bytesOf(message))
      return { ...message, messageId, dup: false }
    }
  }

  /** It is settled: with PUBACK or PUBCOMP. False when no such message was sent. */
  acknowledge(messageId: number): boolean {
    this.#settle(messageId)
    return this.#inflight.delete(messageId)
  }

  /** The client has a message of QoS 2 (PUBREC), and now waits for its release. False when no such message was sent. */
  release(messageId: number): boolean {
    const message = this.#inflight.get(messageId)
    if (message === undefined || (message !== 'released' && message.qos !== 2)) return false
    this.#settle(messageId)
    this.#inflight.set(messageId, 'released')
    return true
  }

  /** Forgets everything. */
  clear(): void {
    while (this.#queue.length > 0) this.#remove(this.#queue.length - 1)
    this.#countInflight(-this.#inflightBytes)
    this.#inflight.clear()
    this.#again = []
  }

  /** Half of the bytes may be in flight, or one message that is larger. */
  #isWindowFull(bytes: number): boolean {
    if (this.#inflight.size >= this.#window) return true
    return this.#inflightBytes > 0 && this.#inflightBytes + bytes > this.#limits.maxQueuedBytes / 2
  }

  /** The client has it: its content is no longer needed. */
  #settle(messageId: number): void {
    const message = this.#inflight.get(messageId)
    if (message !== undefined && message !== 'released') this.#countInflight(-bytesOf(message))
  }

  #drop(): void {
    const { totals } = this.#shares
    const oldest = this.#queue.findIndex(({ qos }) => qos === 0)
    if (oldest >= 0) totals.droppedQos0++
    else totals.droppedQos1++
    this.#remove(Math.max(oldest, 0))
  }

  #remove(at: number): void {
    const message = at === 0 ? this.#queue.shift() : this.#queue.splice(at, 1)[0]
    if (message !== undefined) this.#count(-bytesOf(message))
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

/** A message counts with what it costs besides its payload, too. */
function bytesOf({ delivery }: Outgoing): number {
  return delivery.payload.length + 200
}
