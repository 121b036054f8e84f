import { compareRefs, RareMap, type ChainHead, type NodeId } from '@runnel/protocol'

/** A neighbour announces newer messages of a chain. This is a claim until they have come and were verified. */
export interface HeadClaim {
  readonly peerId: NodeId
  readonly head: ChainHead
  dueMs: number
  tries: number
  /** The fetch under way, or 0. */
  requestId: number
  /** When it was last sent. */
  sentMs: number
  /** The newest that was claimed since then, and when it is due. */
  next: { readonly head: ChainHead; readonly dueMs: number } | undefined
}

/**
 * The claims of one stream part: the newest of each neighbour for each chain, in the order in which they were made, so that a
 * neighbour with many claims does not delay others.
 */
export class HeadClaims {
  readonly #maxClaims: number
  readonly #claims = new RareMap<string, HeadClaim>()
  readonly #ofPeer = new RareMap<NodeId, number>()

  constructor(limits: { readonly maxHeadClaims: number }) {
    this.#maxClaims = limits.maxHeadClaims
  }

  [Symbol.iterator](): IterableIterator<HeadClaim> {
    return this.#claims.values()
  }

  get dueMs(): number {
    let dueMs = Infinity
    for (const claim of this.#claims.values()) dueMs = Math.min(dueMs, claim.dueMs)
    return dueMs
  }

  /** False when the neighbour made too many. A claim that is being pursued is not replaced, but keeps the newer one. */
  add(peerId: NodeId, head: ChainHead, dueMs: number): boolean {
    const key = keyOf(peerId, head)
    const before = this.#claims.get(key)
    if (before !== undefined) {
      if (compareRefs(head, before.next?.head ?? before.head) <= 0) return true
      if (before.requestId > 0) {
        before.next = { head, dueMs }
        return true
      }
    } else if (this.#count(peerId) >= this.#maxClaims) return false
    else this.#ofPeer.set(peerId, this.#count(peerId) + 1)
    // Who claims more all the while has no more tries for it.
    const { dueMs: firstMs, tries, sentMs } = before ?? { dueMs, tries: 0, sentMs: 0 }
    this.#claims.set(key, { peerId, head, dueMs: firstMs, tries, requestId: 0, sentMs, next: undefined })
    return true
  }

  /**
   * An earlier claim of another neighbour about the same chain that is being pursued for the first time, and not since long ago: a false one
   * holds up the others once.
   */
  rival({ peerId, head }: HeadClaim, sinceMs: number): HeadClaim | undefined {
    for (const claim of this.#claims.values()) {
      if (!isSameChain(claim.head, head)) continue
      if (claim.peerId === peerId) return undefined
      if (claim.requestId > 0 && claim.tries <= 1 && claim.sentMs > sinceMs) return claim
    }
    return undefined
  }

  delete({ peerId, head }: HeadClaim): void {
    if (!this.#claims.delete(keyOf(peerId, head))) return
    const left = this.#count(peerId) - 1
    if (left > 0) this.#ofPeer.set(peerId, left)
    else this.#ofPeer.delete(peerId)
  }

  #count(peerId: NodeId): number {
    return this.#ofPeer.get(peerId) ?? 0
  }
}

function keyOf(peerId: NodeId, { publisherId, messageChainId }: ChainHead): string {
  return `${peerId} ${publisherId} ${messageChainId}`
}

function isSameChain(a: ChainHead, b: ChainHead): boolean {
  return a.publisherId === b.publisherId && a.messageChainId === b.messageChainId
}
