import type { NodeId } from '@runnel/protocol'

/**
 * Which neighbours are known to have a chain's newest message, as they sent it or said so; and whether they can know that
 * it is here. Holds no more than the neighbours there are, as long as those that go are deleted.
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

  /** May not have it: it was sent, but that may have been lost. */
  lacks(peerId: NodeId): boolean {
    return !this.#holders.has(peerId)
  }

  /** Sent it and was not sent it in turn, as the others were: waits to hear that it came. */
  waits(peerId: NodeId): boolean {
    return this.#source === peerId
  }
}
