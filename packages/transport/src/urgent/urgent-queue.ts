import { dropOldest, type UrgentMessage } from '@runnel/protocol'
import type { UrgentLimits } from './limits.ts'

/**
 * Why an urgent message was dropped: its time was over, a newer group took its place, there was no room for it, or the link carries less than
 * all layers of its group.
 */
export type UrgentDrop = 'late' | 'replaced' | 'refused' | 'shed'

/** Of a group, what was dropped last: later objects of a later priority build on it. */
type Broken = Pick<UrgentMessage, 'group' | 'object' | 'priority'>

interface UrgentQueueModules {
  dropped(why: UrgentDrop, message: UrgentMessage): void
}

/**
 * Urgent messages that wait for room in a channel. First goes the lowest priority; of those the publisher that was sent least since messages
 * began to wait, so that none can keep others waiting; and of a publisher what has least time left. In a chain groups go in its order.
 *
 * In a group the objects of a later priority are an upper layer, such as the pictures between others: they build on what came before them.
 * Where a link carries less than what comes, the lower layer overtakes the upper one, which is shed then.
 */
export class UrgentQueue {
  readonly #limits: UrgentLimits
  readonly #modules: UrgentQueueModules
  #waiting: UrgentMessage[] = []
  #bytes = 0
  /** Bytes that were sent since the queue was empty, by publisher; of as many as may wait here, the last ones. */
  readonly #sent = new Map<string, number>()
  readonly #queuedMs = new WeakMap<UrgentMessage, number>()
  /** By chain, until the queue is empty; of as many chains as may wait here, the last ones. */
  readonly #broken = new Map<string, Broken>()

  constructor(limits: UrgentLimits, modules: UrgentQueueModules) {
    this.#limits = limits
    this.#modules = modules
  }

  get size(): number {
    return this.#waiting.length
  }

  get bytes(): number {
    return this.#bytes
  }

  push(message: UrgentMessage, nowMs: number): void {
    if (message.deadlineMs <= nowMs) return this.#modules.dropped('late', message)
    // A neighbour that pulls it again, before the first copy has left, gets one.
    if (this.#waiting.includes(message)) return
    if (this.#waiting.some((other) => replaces(other, message)))
      return this.#modules.dropped('replaced', message)
    if (this.#buildsOnBroken(message)) return this.#modules.dropped('shed', message)
    this.#remove('replaced', (other) => replaces(message, other))
    this.#waiting.push(message)
    this.#queuedMs.set(message, nowMs)
    this.#bytes += message.batchBytes.length
    this.#makeRoom(message.publisher, nowMs)
  }

  /** The message that goes next, and stays until all of it was sent; those whose time is over are dropped. */
  first(nowMs: number): UrgentMessage | undefined {
    this.#remove('late', ({ deadlineMs }) => deadlineMs <= nowMs)
    if (this.#waiting.length === 0) {
      this.#sent.clear()
      this.#broken.clear()
    }
    return this.#first()
  }

  /** So many bytes of a message were sent. */
  sent(message: UrgentMessage, bytes: number, nowMs: number): void {
    const { publisher } = message
    const sent = (this.#sent.get(publisher) ?? 0) + bytes
    setLast(this.#sent, publisher, sent, this.#limits.maxUrgentQueueBatches)
    const longSinceMs = nowMs - this.#limits.shedAfterMs
    this.#remove(
      'shed',
      (other) => isUpperLayerOf(other, message) && (this.#queuedMs.get(other) ?? nowMs) <= longSinceMs,
    )
  }

  /** All of a message was sent, or it came too late for that. */
  done(message: UrgentMessage, isLate = false): void {
    this.#waiting = this.#waiting.filter((other) => other !== message)
    this.#bytes -= message.batchBytes.length
    if (!isLate) return
    this.#modules.dropped('late', message)
    this.#breaks(message)
  }

  #first(): UrgentMessage | undefined {
    const heads = new Map<string, UrgentMessage>()
    for (const message of this.#waiting) {
      const head = heads.get(message.chain)
      if (head === undefined || isBefore(message, head)) heads.set(message.chain, message)
    }
    const sent = ({ publisher }: UrgentMessage): number => this.#sent.get(publisher) ?? 0
    const [first] = [...heads.values()].sort(
      (a, b) => a.priority - b.priority || sent(a) - sent(b) || a.deadlineMs - b.deadlineMs,
    )
    return first
  }

  /** First the publisher keeps to its share, then whoever takes most of what is short gives way. */
  #makeRoom(publisher: string, nowMs: number): void {
    const { maxUrgentQueueBytes, maxUrgentQueueBytesOfPublisher, maxUrgentQueueBatches } = this.#limits
    const isTooLarge = (): boolean => this.#bytes > maxUrgentQueueBytes
    const areTooMany = (): boolean => this.#waiting.length > maxUrgentQueueBatches
    if (this.#bytesOf(publisher) <= maxUrgentQueueBytesOfPublisher && !isTooLarge() && !areTooMany()) return
    this.#remove('late', ({ deadlineMs }) => deadlineMs <= nowMs)
    while (this.#bytesOf(publisher) > maxUrgentQueueBytesOfPublisher) this.#dropLast(publisher)
    while (isTooLarge()) this.#dropLast(this.#heaviest(({ batchBytes }) => batchBytes.length))
    while (areTooMany()) this.#dropLast(this.#heaviest(() => 1))
  }

  #bytesOf(publisher: string): number {
    return this.#waiting.reduce(
      (sum, message) => sum + (message.publisher === publisher ? message.batchBytes.length : 0),
      0,
    )
  }

  #heaviest(weightOf: (message: UrgentMessage) => number): string {
    const weights = new Map<string, number>()
    for (const message of this.#waiting)
      weights.set(message.publisher, (weights.get(message.publisher) ?? 0) + weightOf(message))
    return [...weights].reduce((most, other) => (other[1] > most[1] ? other : most))[0]
  }

  /** Of what a publisher has here, what would go last. */
  #dropLast(publisher: string): void {
    const last = this.#waiting
      .filter((message) => message.publisher === publisher)
      .reduce((worst, message) => (isBefore(worst, message) ? message : worst))
    this.#remove('refused', (message) => message === last)
  }

  #remove(why: UrgentDrop, isOne: (message: UrgentMessage) => boolean): void {
    if (!this.#waiting.some(isOne)) return
    const removed = this.#waiting.filter(isOne)
    this.#waiting = this.#waiting.filter((message) => !isOne(message))
    for (const message of removed) {
      this.#bytes -= message.batchBytes.length
      this.#modules.dropped(why, message)
    }
    if (why !== 'replaced') for (const message of removed) this.#breaks(message)
  }

  /** Sheds what builds on a message that was dropped. */
  #breaks(message: UrgentMessage): void {
    const { chain, group, object, priority } = message
    const before = this.#broken.get(chain)
    if (before?.group === group && before.priority < priority) return
    setLast(this.#broken, chain, { group, object, priority }, this.#limits.maxUrgentQueueBatches)
    const next = this.#waiting
      .filter((other) => other.chain === chain && other.group === group && other.priority <= priority)
      .reduce((least, other) => (other.object > object ? Math.min(least, other.object) : least), Infinity)
    this.#remove('shed', (other) => buildsOn(other, message) && other.object < next)
  }

  #buildsOnBroken(message: UrgentMessage): boolean {
    const broken = this.#broken.get(message.chain)
    if (broken === undefined) return false
    if (buildsOn(message, { ...broken, chain: message.chain })) return true
    if (message.group > broken.group || (message.group === broken.group && message.object > broken.object))
      this.#broken.delete(message.chain)
    return false
  }
}

/** Sets an entry as the last one, and forgets the first of more than `max`. */
function setLast<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key)
  map.set(key, value)
  dropOldest(map, max)
}

const isOfGroup = (
  a: Pick<UrgentMessage, 'chain' | 'group'>,
  b: Pick<UrgentMessage, 'chain' | 'group'>,
): boolean => a.chain === b.chain && a.group === b.group

/** Whether a message is of a later layer of its group than another, and was overtaken by it. */
const isUpperLayerOf = (upper: UrgentMessage, lower: UrgentMessage): boolean =>
  isOfGroup(upper, lower) && upper.priority > lower.priority && upper.object < lower.object

/** Of its layer and below, until the next object of a layer as low as the one before. */
const buildsOn = (message: UrgentMessage, before: Broken & { readonly chain: string }): boolean =>
  isOfGroup(message, before) && message.priority > before.priority && message.object > before.object

/** Of one publisher: by priority, then by its groups, then by time. */
function isBefore(a: UrgentMessage, b: UrgentMessage): boolean {
  const byGroup = a.chain !== b.chain ? 0 : a.order === 'oldest' ? a.group - b.group : b.group - a.group
  const byObject = a.chain === b.chain && a.group === b.group ? a.object - b.object : 0
  return (a.priority - b.priority || byGroup || byObject || a.deadlineMs - b.deadlineMs) < 0
}

/** Object 0 of a group is a new beginning: where the publisher asks for it, nobody needs older groups then. */
function replaces(newer: UrgentMessage, older: UrgentMessage): boolean {
  return (
    newer.order === 'newest-only' &&
    newer.object === 0 &&
    newer.chain === older.chain &&
    newer.group > older.group
  )
}
