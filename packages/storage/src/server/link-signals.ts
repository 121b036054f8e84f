import type { NodeId } from '@runnel/protocol'

/** Why a signal of a link was aborted when the link closed. */
export const linkGone = new Error('the link closed')

/** One signal for each link on which something was asked, for all that answer: it ends what is being done for the peer. */
export class LinkSignals {
  readonly #links = new Map<NodeId, AbortController>()
  #end: AbortSignal | undefined

  /** Aborted when the link closes, or all end. */
  of(peerId: NodeId): AbortSignal {
    if (this.#end !== undefined) return this.#end
    const link = this.#links.get(peerId) ?? new AbortController()
    this.#links.set(peerId, link)
    return link.signal
  }

  closed(peerId: NodeId): void {
    this.#links.get(peerId)?.abort(linkGone)
    this.#links.delete(peerId)
  }

  /** Ends them all, and those asked for later. Idempotent. */
  end(reason: Error): void {
    this.#end ??= AbortSignal.abort(reason)
    for (const link of this.#links.values()) link.abort(reason)
    this.#links.clear()
  }
}
