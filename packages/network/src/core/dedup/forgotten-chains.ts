import { laterPlace, type MessageRef, type NodeId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { Counters } from '../counters.ts'

/**
 * What is still known of chains that had to be forgotten: of each publisher the newest place of all of them. Up to there
 * nothing of a chain that is not remembered is taken, as it may be here already; so that forgetting a chain never has
 * its messages delivered and flooded twice. What a publisher loses by it is what comes late of its other chains.
 */
export class ForgottenChains {
  readonly #counters: Counters
  /** In the order in which their last chain was forgotten. */
  readonly #floors: LRU<MessageRef>

  constructor(limits: { readonly maxForgottenPublishers: number }, counters: Counters) {
    this.#floors = new LRU(limits.maxForgottenPublishers)
    this.#counters = counters
  }

  floorOf(publisherId: NodeId): MessageRef | undefined {
    return this.#floors.peek(publisherId)
  }

  /** Takes over what another one knows. */
  resume(other: ForgottenChains): void {
    other.#floors.forEach((newest, publisherId: NodeId) => this.add(publisherId, newest))
  }

  add(publisherId: NodeId, newest: MessageRef): void {
    const floor = laterPlace(this.#floors.peek(publisherId), newest)
    if (this.#floors.setWithEvicted(publisherId, floor)) this.#counters['dedup.publishersForgotten']++
  }
}
