import { RareLru, type NodeId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'

/** The tracker through which a signal of each peer last came: the answer takes the same route. */
export class SignalRoutes {
  readonly #counters: Counters
  readonly #trackers: RareLru<NodeId, NodeId>

  constructor(limits: { readonly maxSignalRoutes: number }, counters: Counters) {
    this.#trackers = new RareLru(limits.maxSignalRoutes)
    this.#counters = counters
  }

  get(peerId: NodeId): NodeId | undefined {
    return this.#trackers.peek(peerId)
  }

  set(peerId: NodeId, trackerId: NodeId): void {
    if (this.#trackers.set(peerId, trackerId)) this.#counters['signal.routesDropped']++
  }
}
