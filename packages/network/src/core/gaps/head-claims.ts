import { compareRefs, RareMap, type ChainHead, type NodeId } from '@runnel/protocol'

/** A neighbour announces newer messages of a chain. This is a claim until they have come and were verified. */
export interface HeadClaim {
  readonly peerId: NodeId
  readonly head: ChainHead
  dueMs: number
  tries: number
  /** The fetch under way, or 0. */
  requestId: number
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

  /** False when the neighbour made too many. A claim that is being pursued is not replaced. */
  add(peerId: NodeId, head: ChainHead, dueMs: number): boolean {
    const key = keyOf(peerId, head)
    const before = this.#claims.get(key)
    if (before !== undefined) {
      if (before.requestId > 0 || compareRefs(head, before.head) <= 0) return true
    } else if (this.#count(peerId) >= this.#maxClaims) return false
    else this.#ofPeer.set(peerId, this.#count(peerId) + 1)
    this.#claims.set(key, { peerId, head, dueMs: before?.dueMs ?? dueMs, tries: 0, requestId: 0 })
    return true
  }

  /** A claim of another neighbour about the same chain that is being pursued. */
  rival({ peerId, head }: HeadClaim): HeadClaim | undefined {
    for (const claim of this.#claims.values()) {
      if (claim.requestId > 0 && claim.peerId !== peerId && isSameChain(claim.head, head)) return claim
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
