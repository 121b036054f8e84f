import type { NodeId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'

/** The tracker through which a signal of each peer last came: the answer takes the same route. */
export class SignalRoutes {
  readonly #limits: { readonly maxSignalRoutes: number }
  readonly #counters: Counters
  readonly #trackers = new Map<NodeId, NodeId>()

  constructor(limits: { readonly maxSignalRoutes: number }, counters: Counters) {
    this.#limits = limits
    this.#counters = counters
  }

  get(peerId: NodeId): NodeId | undefined {
    return this.#trackers.get(peerId)
  }

  set(peerId: NodeId, trackerId: NodeId): void {
    this.#trackers.delete(peerId)
    this.#trackers.set(peerId, trackerId)
    if (this.#trackers.size <= this.#limits.maxSignalRoutes) return
    for (const oldest of this.#trackers.keys()) {
      this.#trackers.delete(oldest)
      this.#counters['signal.routesDropped']++
      return
    }
  }
}
