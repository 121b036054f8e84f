import type { Ordered } from '@runnel/network'
import type { NodeId } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'
import { chainKey, partOf, type PublishedMessages } from './published.ts'

interface Progress {
  readonly index: number
  /** A gap was told of after it. */
  readonly gap: boolean
}

/** What an application is given: each message once, in the order of its chain, and nothing left out without saying so. */
export class DeliveryChecker {
  readonly #nodeId: NodeId
  readonly #modules: { readonly breaches: Breaches; readonly published: PublishedMessages }
  readonly #chains = new Map<string, Progress>()

  constructor(
    nodeId: NodeId,
    modules: { readonly breaches: Breaches; readonly published: PublishedMessages },
  ) {
    this.#nodeId = nodeId
    this.#modules = modules
  }

  given(item: Ordered): void {
    if (item.kind === 'gap') {
      const { streamId, partition, publisherId, messageChainId } = item.chain
      const key = `${streamId}#${partition} ${publisherId} ${messageChainId}`
      const before = this.#chains.get(key)
      if (before !== undefined) this.#chains.set(key, { ...before, gap: true })
      return
    }
    const { breaches, published } = this.#modules
    const key = chainKey(item.message)
    const index = published.find(item.message)?.index
    const what = `message ${index} of ${key} at ${this.#nodeId}`
    if (index === undefined) return breaches.report('delivery', `altered: ${partOf(item.message)} ${what}`)
    const before = this.#chains.get(key)
    if (before !== undefined) {
      if (index <= before.index) breaches.report('delivery', `${what} after message ${before.index}`)
      if (index > before.index + 1 && !before.gap)
        breaches.report('delivery', `${what} after message ${before.index}, and no gap was told of`)
    }
    this.#chains.set(key, { index, gap: false })
  }
}
