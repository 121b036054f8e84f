import type { NodeId } from '@runnel/protocol'

/**
 * Which neighbours are known to have a chain's newest message, because they sent it or announced it, and whether they can know
 * that it is here. Bounded by the number of neighbours, as long as former ones are deleted.
 */
export class NewestHolders {
  readonly #holders = new Set<NodeId>()
  #source: NodeId | undefined

  /** Another message is the newest; `source` sent it, unless it was published here or came from the archive. */
  reset(source: NodeId | undefined): void {
    this.#holders.clear()
    this.#source = source
    if (source !== undefined) this.#holders.add(source)
  }

  add(peerId: NodeId): void {
    this.#holders.add(peerId)
  }

  delete(peerId: NodeId): void {
    this.#holders.delete(peerId)
    if (this.#source === peerId) this.#source = undefined
  }

  /** May lack it: it was sent, but may have been lost. */
  lacks(peerId: NodeId): boolean {
    return !this.#holders.has(peerId)
  }

  /** Sent it and got no copy in return, as the others did: waits to hear that it arrived. */
  waits(peerId: NodeId): boolean {
    return this.#source === peerId
  }
}
