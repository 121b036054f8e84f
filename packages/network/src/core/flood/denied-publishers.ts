import { RareMap, type DelegationRef, type NodeId } from '@runnel/protocol'

interface Brought {
  readonly sinceMs: number
  readonly publishers: Set<NodeId | DelegationRef>
}

/**
 * Publishers without permission whose batches a neighbour brought. A neighbour that checks before it forwards brings some when
 * the registry has just changed and the two know different states of it, but only those whose permission changed, however much
 * they publish; so publishers are counted, not batches.
 */
export class DeniedPublishers {
  readonly #limits: { readonly maxDeniedPublishers: number; readonly deniedWindowMs: number }
  readonly #ofPeer = new RareMap<NodeId, Brought>()

  constructor(limits: { readonly maxDeniedPublishers: number; readonly deniedWindowMs: number }) {
    this.#limits = limits
  }

  /** Notes a publisher, or a delegation under which it signed, that a neighbour brought; true when there are more than a correct neighbour ever brings. */
  note(peerId: NodeId, publisherId: NodeId | DelegationRef, nowMs: number): boolean {
    let brought = this.#ofPeer.get(peerId)
    if (brought === undefined || nowMs - brought.sinceMs >= this.#limits.deniedWindowMs) {
      brought = { sinceMs: nowMs, publishers: new Set() }
      this.#ofPeer.set(peerId, brought)
    }
    brought.publishers.add(publisherId)
    return brought.publishers.size > this.#limits.maxDeniedPublishers
  }

  /** Call it when a neighbour's link closed. */
  forget(peerId: NodeId): void {
    this.#ofPeer.delete(peerId)
  }
}
