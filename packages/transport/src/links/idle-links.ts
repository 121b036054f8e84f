import { networkOf, Shares, RareSet, type NodeId } from '@runnel/protocol'

/**
 * The links that others have opened and this side has no use for. A newcomer always gets in, so that it can send a request. The
 * one evicted for it is the longest silent link of the network with the most, or of all when each network has only one.
 */
export class IdleLinks {
  readonly #shares: Shares<NodeId>
  /** All of them, the most recently heard from last. */
  readonly #bySilence = new RareSet<NodeId>()

  constructor(max: number) {
    this.#shares = new Shares({ max, evict: 'oldest' })
  }

  /** Returns those to evict. */
  add(peerId: NodeId, remoteAddress: string | undefined): readonly NodeId[] {
    const network = networkOf(remoteAddress ?? '')
    const [evicted] = this.#shares.add(peerId, network)
    if (evicted === undefined) return this.#added(peerId, [])
    if (evicted !== peerId) return this.#added(peerId, [evicted])
    const [silent] = this.#bySilence
    if (silent === undefined) return [peerId]
    this.delete(silent)
    this.#shares.add(peerId, network)
    return this.#added(peerId, [silent])
  }

  /** Marks a link as heard from, if it is idle. */
  touch(peerId: NodeId): void {
    if (!this.#bySilence.delete(peerId)) return
    this.#bySilence.add(peerId)
    this.#shares.touch(peerId)
  }

  delete(peerId: NodeId): void {
    this.#bySilence.delete(peerId)
    this.#shares.delete(peerId)
  }

  #added(peerId: NodeId, evicted: readonly NodeId[]): readonly NodeId[] {
    this.#bySilence.add(peerId)
    for (const one of evicted) this.#bySilence.delete(one)
    return evicted
  }
}
