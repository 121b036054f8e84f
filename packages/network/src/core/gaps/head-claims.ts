import { compareRefs, type ChainHead, type NodeId } from '@runnel/protocol'

/** A neighbour says that there is more of a chain. It is a claim until the messages have come and were verified. */
export interface HeadClaim {
  readonly peerId: NodeId
  readonly head: ChainHead
  dueMs: number
  tries: number
  /** The fetch under way, or 0. */
  requestId: number
}

/** The claims of one stream part: one a chain, the farthest. */
export class HeadClaims {
  readonly #maxClaims: number
  readonly #claims = new Map<string, HeadClaim>()

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

  /** False when there are too many. A claim that is being looked into is not replaced. */
  add(peerId: NodeId, head: ChainHead, dueMs: number): boolean {
    const key = keyOf(head)
    const before = this.#claims.get(key)
    if (before !== undefined) {
      if (before.requestId > 0 || compareRefs(head, before.head) <= 0) return true
    } else if (this.#claims.size >= this.#maxClaims) return false
    this.#claims.set(key, { peerId, head, dueMs: before?.dueMs ?? dueMs, tries: 0, requestId: 0 })
    return true
  }

  delete(claim: HeadClaim): void {
    this.#claims.delete(keyOf(claim.head))
  }
}

const keyOf = ({ publisherId, messageChainId }: ChainHead): string => `${publisherId} ${messageChainId}`
