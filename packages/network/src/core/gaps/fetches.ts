import { RareMap, type MessageChain, type NodeId, type StreamPartId } from '@runnel/protocol'
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

/** The fetches under way. */
export class Fetches {
  readonly #maxInFlight: number
  readonly #byId = new RareMap<number, SentFetch>()
  readonly #inFlight = new RareMap<NodeId, number>()
  #lastId = 0

  constructor(limits: { readonly maxFetchesInFlight: number }) {
    this.#maxInFlight = limits.maxFetchesInFlight
  }

  canAsk(peerId: NodeId, nowMs: number): boolean {
    if ((this.#inFlight.get(peerId) ?? 0) >= this.#maxInFlight) this.#dropUnanswered(nowMs)
    return (this.#inFlight.get(peerId) ?? 0) < this.#maxInFlight
  }

  add(fetch: Omit<SentFetch, 'requestId'>): number {
    this.#lastId = this.#lastId === 0xffff_ffff ? 1 : this.#lastId + 1
    this.#byId.set(this.#lastId, { ...fetch, requestId: this.#lastId })
    this.#inFlight.set(fetch.peerId, (this.#inFlight.get(fetch.peerId) ?? 0) + 1)
    return this.#lastId
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
