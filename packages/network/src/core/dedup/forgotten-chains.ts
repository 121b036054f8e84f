import { laterPlace, RareLru, type MessageRef, type NodeId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'

/**
 * What is still known of forgotten chains: for each publisher the newest place of all of them. Up to there nothing is accepted
 * from a chain that is not remembered, because it may have been seen; so no message is delivered and flooded twice after its
 * chain was forgotten. The cost for a publisher is that late messages of its other chains are dropped.
 */
export class ForgottenChains {
  readonly #counters: Counters
  /** In the order in which their last chain was forgotten. */
  readonly #floors: RareLru<NodeId, MessageRef>

  constructor(limits: { readonly maxForgottenPublishers: number }, counters: Counters) {
    this.#floors = new RareLru(limits.maxForgottenPublishers)
    this.#counters = counters
  }

  floorOf(publisherId: NodeId): MessageRef | undefined {
    return this.#floors.peek(publisherId)
  }

  /** Adds what another one knows. */
  resume(other: ForgottenChains): void {
    other.#floors.forEach((newest, publisherId) => this.add(publisherId, newest))
  }

  add(publisherId: NodeId, newest: MessageRef): void {
    const floor = laterPlace(this.#floors.peek(publisherId), newest)
    if (this.#floors.set(publisherId, floor)) this.#counters['dedup.publishersForgotten']++
  }
}
