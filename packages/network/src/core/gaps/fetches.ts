import {
  dropOldest,
  RareMap,
  toStreamPartId,
  type MessageChain,
  type MissingRange,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import { Lateness } from '../lateness.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { HeadClaim } from './head-claims.ts'

/** A fetch that was sent, for ranges of a chain or to verify a claim. */
export interface SentFetch {
  readonly requestId: number
  readonly peerId: NodeId
  readonly streamPartId: StreamPartId
  readonly chain: Pick<MessageChain, 'publisherId' | 'messageChainId'>
  readonly claim: HeadClaim | undefined
  /** The number of ranges requested. */
  readonly rangeCount: number
  readonly sentMs: number
  /** When it counts as unanswered, whether or not the answer is still needed. */
  readonly dueMs: number
}

export interface FetchesLimits {
  readonly maxFetchRttMs: number
  readonly maxFetchesInFlight: number
  readonly hostAskMs: number
}

export interface FetchesModules {
  readonly effects: Pick<OverlayEffects, 'sendControl'>
  readonly counters: Counters
}

/** How one neighbour answers. */
interface Answers {
  /** How long it takes. */
  readonly lateness: Lateness
  /** Fetches that it may have in progress. */
  room: number
  /** When that last became less: what was sent before says nothing new of it. */
  lessMs: number
}

/** Fetches that a neighbour may always have in progress: each is for one chain, and all may lack something. */
const minRoom = 4
/** Fetches that timed out and whose answers are still measured; beyond it, the oldest are forgotten. */
const maxTimedOut = 256
/** A neighbour that answers late is waited for at most this many times as long as one that answers at once. */
const maxPatience = 4

/**
 * The fetches under way: what a neighbour has comes as data, and its answer says that there is no more.
 *
 * Where a link is full, what is fetched too soon or from several neighbours comes besides what is late already, and makes more of it late. So who
 * answers late is waited for longer, as RFC 6298 waits to send again, and has fewer fetches at a time: half as many after one that timed out, one more
 * when all that it may have were answered (RFC 5681, section 3.1).
 */
export class Fetches {
  readonly #limits: FetchesLimits
  readonly #modules: FetchesModules
  readonly #byId = new RareMap<number, SentFetch>()
  readonly #inFlight = new RareMap<NodeId, number>()
  readonly #answers = new RareMap<NodeId, Answers>()
  readonly #timedOut = new RareMap<number, SentFetch>()
  #lastId = 0
  #droppedMs = -Infinity

  constructor(limits: FetchesLimits, modules: FetchesModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /**
   * Returns the number of the request; 0 when the neighbour has too much to answer already, and nothing was sent. `mayLose`: what is not answered is
   * asked for again, so it need not wait for what was lost before it.
   */
  send(
    fetch: Omit<SentFetch, 'requestId' | 'rangeCount'>,
    ranges: readonly MissingRange[],
    mayLose = true,
  ): number {
    const { peerId, streamPartId, chain, sentMs } = fetch
    const room = Math.floor(this.#answers.get(peerId)?.room ?? this.#limits.maxFetchesInFlight)
    if ((this.#inFlight.get(peerId) ?? 0) >= room) this.#dropUnanswered(sentMs)
    const inFlight = this.#inFlight.get(peerId) ?? 0
    if (inFlight >= room) return 0
    const requestId = (this.#lastId = this.#lastId === 0xffff_ffff ? 1 : this.#lastId + 1)
    this.#byId.set(requestId, { ...fetch, requestId, rangeCount: ranges.length })
    this.#inFlight.set(peerId, inFlight + 1)
    this.#modules.counters['fetch.sent']++
    const { publisherId, messageChainId } = chain
    const packet = { type: 'fetch', requestId, streamPartId, publisherId, messageChainId, ranges } as const
    this.#modules.effects.sendControl(peerId, packet, mayLose)
    return requestId
  }

  /** Asks for what is looked for no further if it does not come. False when nothing was sent. */
  once(peerId: NodeId, chain: MessageChain, ranges: readonly MissingRange[], nowMs: number): boolean {
    const streamPartId = toStreamPartId(chain.streamId, chain.partition)
    const dueMs = nowMs + this.#limits.hostAskMs
    const fetch = { peerId, streamPartId, chain, claim: undefined, sentMs: nowMs, dueMs }
    return this.send(fetch, ranges, false) !== 0
  }

  /** How long to wait for an answer of a neighbour that may take so long by the round trip to it. */
  timeoutMs(peerId: NodeId, byRttMs: number): number {
    const lateMs = this.#answers.get(peerId)?.lateness.boundMs ?? 0
    const mostMs = Math.min(maxPatience * byRttMs, 1.5 * this.#limits.maxFetchRttMs)
    return Math.ceil(Math.max(byRttMs, Math.min(lateMs, mostMs)))
  }

  /** The fetch that this answer ends, if it was sent to this peer. */
  answered(requestId: number, peerId: NodeId, nowMs: number): SentFetch | undefined {
    const sent = this.#byId.get(requestId) ?? this.#timedOut.get(requestId)
    if (sent?.peerId !== peerId) return undefined
    const { maxFetchesInFlight } = this.#limits
    const answers = this.#answersOf(peerId)
    answers.lateness.add(nowMs - sent.sentMs)
    this.#timedOut.delete(requestId)
    const fetch = this.#take(requestId)
    if (fetch !== undefined) answers.room = Math.min(maxFetchesInFlight, answers.room + 1 / answers.room)
    return fetch
  }

  /** A fetch that is still waited for is no longer: the answer has not come in time. */
  timedOut(requestId: number, nowMs: number): void {
    const fetch = this.#take(requestId)
    if (fetch === undefined) return
    this.#modules.counters['fetch.timeouts']++
    this.#timedOut.set(requestId, fetch)
    dropOldest(this.#timedOut, maxTimedOut)
    const answers = this.#answersOf(fetch.peerId)
    if (fetch.sentMs <= answers.lessMs) return
    answers.room = Math.max(Math.min(minRoom, this.#limits.maxFetchesInFlight), answers.room / 2)
    answers.lessMs = nowMs
  }

  #answersOf(peerId: NodeId): Answers {
    let answers = this.#answers.get(peerId)
    if (answers === undefined) {
      answers = { lateness: new Lateness(), room: this.#limits.maxFetchesInFlight, lessMs: -Infinity }
      this.#answers.set(peerId, answers)
    }
    return answers
  }

  #take(requestId: number): SentFetch | undefined {
    const fetch = this.#byId.get(requestId)
    if (fetch === undefined) return undefined
    this.#byId.delete(requestId)
    const left = (this.#inFlight.get(fetch.peerId) ?? 1) - 1
    if (left > 0) this.#inFlight.set(fetch.peerId, left)
    else this.#inFlight.delete(fetch.peerId)
    return fetch
  }

  /** The fetched messages may have come another way and the answer been lost: then nothing removes the fetch. */
  #dropUnanswered(nowMs: number): void {
    // What is sent now is due later: once is enough.
    if (nowMs === this.#droppedMs) return
    this.#droppedMs = nowMs
    for (const { requestId, dueMs } of [...this.#byId.values()]) if (dueMs <= nowMs) this.#take(requestId)
  }

  linkClosed(peerId: NodeId): void {
    this.#answers.delete(peerId)
    for (const { requestId, peerId: id } of [...this.#timedOut.values()])
      if (id === peerId) this.#timedOut.delete(requestId)
    if (!this.#inFlight.has(peerId)) return
    for (const fetch of [...this.#byId.values()]) if (fetch.peerId === peerId) this.#take(fetch.requestId)
  }

  /** Drops the fetches of a stream part that was left. */
  drop(streamPartId: StreamPartId): void {
    for (const fetch of [...this.#byId.values()]) {
      if (fetch.streamPartId === streamPartId) this.#take(fetch.requestId)
    }
  }
}
