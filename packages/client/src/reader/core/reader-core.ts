import {
  compareRefs,
  placeBefore,
  placeOf,
  type MessageRef,
  type PlaceRange,
  type ReaderCursor,
} from '@runnel/protocol'
import { Progress } from './progress.ts'

/** Where a message is in its chain. */
export interface ChainPlace extends MessageRef {
  readonly previous: MessageRef | undefined
}

/** A message that is out: taken by the application, or about to be. */
export interface Delivery<M> {
  readonly message: M
  /** Of its chain. */
  readonly tag: string
  /** What is done when it is acknowledged. */
  readonly range: PlaceRange
  /** How often the application was given it. */
  deliveries: number
  /** When it is given again; Infinity while it waits to be taken. */
  dueMs: number
}

export interface ReaderCoreOptions {
  readonly ackWaitMs: number
  readonly maxInFlight: number
  readonly maxDeliveries: number
  readonly maxChains: number
  readonly maxRanges: number
}

/** What comes of messages whose time ran out. */
export interface Expired<M> {
  readonly redelivered: readonly Delivery<M>[]
  readonly givenUp: readonly Delivery<M>[]
}

/** What one member of a reader has to do: pure, with the time in. */
export class ReaderCore<M extends ChainPlace> {
  readonly #options: ReaderCoreOptions
  /** Whose share a message is, as far as is known now. */
  readonly #isMine: (message: M, tag: string) => boolean
  #generation: number
  /** What is done, by whichever member. */
  #done: Progress
  /** What this member has heard of, of its own share and of others. */
  #seen: Progress
  readonly #out = new Map<string, Delivery<M>>()
  #ready: Delivery<M>[] = []
  /** Goes up with all that a cursor has to tell. */
  version = 0
  readonly counters = { delivered: 0, redelivered: 0, acknowledged: 0, givenUp: 0, forgotten: 0 }

  constructor(
    cursor: ReaderCursor,
    options: ReaderCoreOptions,
    modules: { readonly isMine: (message: M, tag: string) => boolean },
  ) {
    this.#options = options
    this.#isMine = modules.isMine
    this.#generation = cursor.generation
    this.#done = new Progress(cursor)
    this.#seen = new Progress({ floorMs: cursor.floorMs, chains: [] })
  }

  get generation(): number {
    return this.#generation
  }

  get floorMs(): number {
    return this.#done.floorMs
  }

  /** How many messages are out. */
  get inFlight(): number {
    return this.#out.size
  }

  get hasRoom(): boolean {
    return this.#out.size < this.#options.maxInFlight
  }

  /** When `expire` has something to do. */
  get dueMs(): number {
    let dueMs = Infinity
    for (const delivery of this.#out.values()) dueMs = Math.min(dueMs, delivery.dueMs)
    return dueMs
  }

  /** Whether a message is done, or was heard of. */
  knows(tag: string, place: MessageRef): boolean {
    return this.#done.has(tag, place) || this.#seen.has(tag, place)
  }

  /** A message came, the first time or again. True when it is now to be taken. */
  offer(message: M, tag: string): boolean {
    if (this.#done.has(tag, message) || this.#out.has(keyOf(tag, message))) return false
    const range = this.#see(message, tag)
    if (!this.#isMine(message, tag)) return false
    const delivery = { message, tag, range, deliveries: 0, dueMs: Infinity }
    this.#out.set(keyOf(tag, message), delivery)
    this.#ready.push(delivery)
    return true
  }

  /** A message that cannot be read: it is done. */
  skip(place: ChainPlace, tag: string): void {
    if (this.#done.has(tag, place)) return
    this.#finish(tag, this.#see(place, tag))
    this.counters.givenUp++
  }

  /** The next message for the application; undefined when there is none now. */
  take(nowMs: number): Delivery<M> | undefined {
    for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift()) {
      if (!this.#isOut(next)) continue
      // Meanwhile it may have become another's.
      if (next.deliveries === 0 && !this.#isMine(next.message, next.tag)) {
        this.#out.delete(keyOf(next.tag, next.message))
        continue
      }
      next.deliveries++
      next.dueMs = nowMs + this.#options.ackWaitMs
      if (next.deliveries === 1) this.counters.delivered++
      return next
    }
    return undefined
  }

  /** The application is done with a message. Again it changes nothing. */
  acknowledge(delivery: Delivery<M>): void {
    if (!this.#isOut(delivery)) return
    this.#finish(delivery.tag, delivery.range)
    this.#out.delete(keyOf(delivery.tag, delivery.message))
    this.counters.acknowledged++
  }

  /** The application could not do it: the message is given again after a while. */
  refuse(delivery: Delivery<M>, dueMs: number): void {
    // What waits to be taken is given again anyway.
    if (this.#isOut(delivery) && delivery.dueMs !== Infinity) delivery.dueMs = dueMs
  }

  /** What was not acknowledged in time is to be taken again, or given up. */
  expire(nowMs: number): Expired<M> {
    const due = [...this.#out.values()].filter(({ dueMs }) => dueMs <= nowMs)
    const [givenUp, redelivered] = [[], []] as [Delivery<M>[], Delivery<M>[]]
    for (const delivery of due) {
      delivery.dueMs = Infinity
      if (delivery.deliveries < this.#options.maxDeliveries) redelivered.push(delivery)
      else givenUp.push(delivery)
    }
    for (const { tag, range, message } of givenUp) {
      this.#finish(tag, range)
      this.#out.delete(keyOf(tag, message))
    }
    this.#ready.push(...redelivered)
    this.counters.redelivered += redelivered.length
    this.counters.givenUp += givenUp.length
    return { redelivered, givenUp }
  }

  /**
   * Another member, or storage, says what is done. 'reset' when the reader was put elsewhere: then it has to read anew from its floor, and
   * nothing that is out counts.
   */
  join(cursor: ReaderCursor): 'joined' | 'reset' {
    if (cursor.generation < this.#generation) return 'joined'
    if (cursor.generation > this.#generation) {
      this.#generation = cursor.generation
      this.#done = new Progress(cursor)
      this.#seen = new Progress({ floorMs: cursor.floorMs, chains: [] })
      this.#out.clear()
      this.#ready = []
      this.version++
      return 'reset'
    }
    this.#done.join(cursor)
    this.#seen.raiseFloor(this.#done.floorMs)
    for (const [key, { tag, message }] of this.#out) if (this.#done.has(tag, message)) this.#out.delete(key)
    return 'joined'
  }

  /** All that is stored from before a time was heard of: the floor may rise that far. */
  swept(untilMs: number): void {
    const pending = this.firstPending()
    const floorMs = Math.min(untilMs, pending?.timestamp ?? Infinity)
    if (floorMs <= this.#done.floorMs) return
    this.#done.raiseFloor(floorMs)
    this.#seen.raiseFloor(floorMs)
    this.version++
  }

  /** After which place there is a message that this member has heard of and nobody is done with. */
  firstPending(): MessageRef | undefined {
    let first: MessageRef | undefined
    for (const [tag, seen] of this.#seen.chains) {
      const place = seen.firstBeyond(this.#done.chains.get(tag))
      if (place !== undefined && (first === undefined || compareRefs(place, first) < 0)) first = place
    }
    return first
  }

  /** As it is to be stored; `leftOut` ranges found no room. */
  cursor(): { readonly cursor: ReaderCursor; readonly leftOut: number } {
    return this.#done.cursor(this.#generation, this.#options.maxRanges)
  }

  #isOut(delivery: Delivery<M>): boolean {
    return this.#out.get(keyOf(delivery.tag, delivery.message)) === delivery
  }

  #see(place: ChainPlace, tag: string): PlaceRange {
    const { previous = placeBefore(place) } = place
    // What a publisher that forked its chain published in between is not done with this.
    const after = this.#seen.chains.get(tag)?.lastBefore(place, placeOf(previous)) ?? placeOf(previous)
    const range = { after, upTo: placeOf(place) }
    this.#seen.add(tag, range)
    return range
  }

  #finish(tag: string, range: PlaceRange): void {
    this.#done.add(tag, range)
    this.version++
    if (this.#done.chains.size > this.#options.maxChains) this.#forget()
  }

  /** The chains that are done, a tenth at once. */
  #forget(): void {
    let left = Math.ceil(this.#options.maxChains / 10)
    for (const [tag, done] of this.#done.chains) {
      if (left-- === 0) return
      if (this.#seen.chains.get(tag)?.firstBeyond(done) !== undefined) continue
      this.#done.forget(tag)
      this.#seen.forget(tag)
      this.counters.forgotten++
    }
  }
}

const keyOf = (tag: string, { timestamp, sequenceNumber }: MessageRef): string =>
  `${tag} ${timestamp} ${sequenceNumber}`
