import {
  RareMap,
  toStreamPartId,
  type MessageChain,
  type MissingRange,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
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
  readonly maxFetchesInFlight: number
  readonly hostAskMs: number
}

export interface FetchesModules {
  readonly effects: Pick<OverlayEffects, 'sendControl'>
  readonly counters: Counters
}

/** The fetches under way: what a neighbour has comes as data, and its answer says that there is no more. */
export class Fetches {
  readonly #limits: FetchesLimits
  readonly #modules: FetchesModules
  readonly #byId = new RareMap<number, SentFetch>()
  readonly #inFlight = new RareMap<NodeId, number>()
  #lastId = 0
  #droppedMs = -Infinity

  constructor(limits: FetchesLimits, modules: FetchesModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Returns the number of the request; 0 when the neighbour has too much to answer already, and nothing was sent. */
  send(fetch: Omit<SentFetch, 'requestId' | 'rangeCount'>, ranges: readonly MissingRange[]): number {
    const { peerId, streamPartId, chain, sentMs } = fetch
    const { maxFetchesInFlight } = this.#limits
    if ((this.#inFlight.get(peerId) ?? 0) >= maxFetchesInFlight) this.#dropUnanswered(sentMs)
    const inFlight = this.#inFlight.get(peerId) ?? 0
    if (inFlight >= maxFetchesInFlight) return 0
    const requestId = (this.#lastId = this.#lastId === 0xffff_ffff ? 1 : this.#lastId + 1)
    this.#byId.set(requestId, { ...fetch, requestId, rangeCount: ranges.length })
    this.#inFlight.set(peerId, inFlight + 1)
    this.#modules.counters['fetch.sent']++
    const { publisherId, messageChainId } = chain
    const packet = { type: 'fetch', requestId, streamPartId, publisherId, messageChainId, ranges } as const
    this.#modules.effects.sendControl(peerId, packet)
    return requestId
  }

  /** Asks for what is looked for no further if it does not come. False when nothing was sent. */
  once(peerId: NodeId, chain: MessageChain, ranges: readonly MissingRange[], nowMs: number): boolean {
    const streamPartId = toStreamPartId(chain.streamId, chain.partition)
    const dueMs = nowMs + this.#limits.hostAskMs
    return this.send({ peerId, streamPartId, chain, claim: undefined, sentMs: nowMs, dueMs }, ranges) !== 0
  }

  /** The fetch that this answer ends, if it was sent to this peer. */
  take(requestId: number, peerId?: NodeId): SentFetch | undefined {
    const fetch = this.#byId.get(requestId)
    if (fetch === undefined || (peerId !== undefined && fetch.peerId !== peerId)) return undefined
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
    for (const { requestId, dueMs } of [...this.#byId.values()]) if (dueMs <= nowMs) this.take(requestId)
  }

  /** Drops fetches that were not answered in time. */
  linkClosed(peerId: NodeId): void {
    if (!this.#inFlight.has(peerId)) return
    for (const fetch of [...this.#byId.values()]) if (fetch.peerId === peerId) this.take(fetch.requestId)
  }

  /** Drops the fetches of a stream part that was left. */
  drop(streamPartId: StreamPartId): void {
    for (const fetch of [...this.#byId.values()]) {
      if (fetch.streamPartId === streamPartId) this.take(fetch.requestId)
    }
  }
}
