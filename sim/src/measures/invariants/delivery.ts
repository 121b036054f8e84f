import type { Gap, Ordered } from '@runnel/network'
import { compareRefs, type MessageRef, type NodeId } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'
import { chainKey, partOf, type PublishedMessages } from './published.ts'

interface Progress {
  readonly index: number
  /** A gap was told of after it. */
  readonly gap: boolean
}

interface Range {
  readonly after: MessageRef
  readonly upTo: MessageRef
}

/**
 * What an application is given: each message once, in the order of its chain, nothing left out without saying so, and nothing that the node
 * did not give up.
 */
export class DeliveryChecker {
  readonly #nodeId: NodeId
  readonly #modules: { readonly breaches: Breaches; readonly published: PublishedMessages }
  readonly #chains = new Map<string, Progress>()
  /** What the node gave up, by chain. */
  readonly #lost = new Map<string, Range[]>()

  constructor(
    nodeId: NodeId,
    modules: { readonly breaches: Breaches; readonly published: PublishedMessages },
  ) {
    this.#nodeId = nodeId
    this.#modules = modules
  }

  /** The node gave up messages. */
  lost({ chain, after, upTo }: Pick<Gap, 'chain' | 'after' | 'upTo'>): void {
    const key = chainKey(chain)
    const ranges = this.#lost.get(key) ?? []
    ranges.push({ after, upTo })
    this.#lost.set(key, ranges)
  }

  /** `isForced`: there was no room to wait for what a gap lacks. */
  given(item: Ordered, isForced = false): void {
    if (item.kind === 'gap') {
      const key = chainKey(item.chain)
      const before = this.#chains.get(key)
      if (before !== undefined) this.#chains.set(key, { ...before, gap: true })
      if (!isForced && !this.#isLost(key, item))
        this.#modules.breaches.report('delivery', `a gap of ${key} at ${this.#nodeId} that was not given up`)
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

  #isLost(key: string, { after, upTo }: Range): boolean {
    const ranges = this.#lost.get(key) ?? []
    return ranges.some((lost) => compareRefs(lost.after, upTo) < 0 && compareRefs(lost.upTo, after) > 0)
  }
}
