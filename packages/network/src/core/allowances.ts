import { noEntries, TokenBucket, type NodeId } from '@runnel/protocol'

/** How often each peer may ask: so many times in a second, also at once. */
export class Allowances {
  readonly #perSecond: number
  #buckets: Map<NodeId, TokenBucket> = noEntries()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** False when the peer asked too often. */
  take(peerId: NodeId, nowMs: number): boolean {
    let bucket = this.#buckets.get(peerId)
    if (bucket === undefined) {
      if (this.#buckets === noEntries<NodeId, TokenBucket>()) this.#buckets = new Map()
      bucket = new TokenBucket({ perSecond: this.#perSecond, burst: this.#perSecond }, nowMs)
      this.#buckets.set(peerId, bucket)
    }
    return bucket.take(nowMs)
  }

  linkClosed(peerId: NodeId): void {
    this.#buckets.delete(peerId)
  }
}
