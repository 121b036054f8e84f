import type { NodeId } from '@runnel/protocol'

interface Brought {
  readonly sinceMs: number
  readonly publishers: Set<NodeId>
}

/**
 * Which publishers that may not publish a neighbour brought batches of. One that checks before it forwards brings some
 * when the registry has just changed and the two know different states of it, but only those whose permission changed,
 * however much these publish; so publishers are counted, not batches.
 */
export class DeniedPublishers {
  readonly #limits: { readonly maxDeniedPublishers: number; readonly deniedWindowMs: number }
  readonly #ofPeer = new Map<NodeId, Brought>()

  constructor(limits: { readonly maxDeniedPublishers: number; readonly deniedWindowMs: number }) {
    this.#limits = limits
  }

  /** Notes one that a neighbour brought; true when these are more than a correct one ever brings. */
  note(peerId: NodeId, publisherId: NodeId, nowMs: number): boolean {
    let brought = this.#ofPeer.get(peerId)
    if (brought === undefined || nowMs - brought.sinceMs >= this.#limits.deniedWindowMs) {
      brought = { sinceMs: nowMs, publishers: new Set() }
      this.#ofPeer.set(peerId, brought)
    }
    brought.publishers.add(publisherId)
    return brought.publishers.size > this.#limits.maxDeniedPublishers
  }

  /** To be told when a neighbour's link closed. */
  forget(peerId: NodeId): void {
    this.#ofPeer.delete(peerId)
  }
}
