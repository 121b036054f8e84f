import { compareRefs, type MessageRef, type NodeId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'

/**
 * What is still known of forgotten chains: for each publisher the newest place of all of them. Up to there nothing is accepted
 * from a chain that is not remembered, because it may have been seen; so no message is delivered and flooded twice after its
 * chain was forgotten. The cost for a publisher is that late messages of its other chains are dropped.
 */
export class ForgottenChains {
  readonly #maxPublishers: number
  readonly #counters: Counters
  /** In the order in which their last chain was forgotten. */
  readonly #floors = new Map<NodeId, MessageRef>()

  constructor(limits: { readonly maxForgottenPublishers: number }, counters: Counters) {
    this.#maxPublishers = limits.maxForgottenPublishers
    this.#counters = counters
  }

  floorOf(publisherId: NodeId): MessageRef | undefined {
    return this.#floors.get(publisherId)
  }

  /** Adds what another one knows. */
  resume(other: ForgottenChains): void {
    for (const [publisherId, newest] of other.#floors) this.add(publisherId, newest)
  }

  add(publisherId: NodeId, newest: MessageRef): void {
    const before = this.#floors.get(publisherId)
    this.#floors.delete(publisherId)
    this.#floors.set(publisherId, before !== undefined && compareRefs(before, newest) > 0 ? before : newest)
    for (const oldest of this.#floors.keys()) {
      if (this.#floors.size <= this.#maxPublishers) return
      this.#floors.delete(oldest)
      this.#counters['dedup.publishersForgotten']++
    }
  }
}
