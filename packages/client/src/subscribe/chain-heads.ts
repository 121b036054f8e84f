import { compareRefs, laterPlace, placeOf, type MessageChain, type MessageRef } from '@runnel/protocol'
import { LRU } from 'tiny-lru'

interface Head {
  readonly chain: MessageChain
  last: MessageRef
}

/** How far each chain was delivered. Bounded; the chain unused longest is forgotten first. */
export class ChainHeads {
  readonly #heads: LRU<Head>
  readonly #onForgotten: (chain: MessageChain, last: MessageRef) => void
  #forgottenUpTo: MessageRef | undefined

  constructor(maxChains: number, onForgotten: (chain: MessageChain, last: MessageRef) => void = () => {}) {
    this.#heads = new LRU(maxChains)
    this.#onForgotten = onForgotten
  }

  get(chain: MessageChain): MessageRef | undefined {
    return this.#heads.peek(keyOfChain(chain))?.last
  }

  /** The latest head of a chain that was forgotten: what a chain without a head has up to here counts as delivered. */
  get forgottenUpTo(): MessageRef | undefined {
    return this.#forgottenUpTo
  }

  /** False when the chain was delivered as far already. */
  advance(chain: MessageChain, place: MessageRef): boolean {
    const key = keyOfChain(chain)
    const known = this.#heads.peek(key)
    if (known !== undefined && compareRefs(place, known.last) <= 0) return false
    const { streamId, partition, publisherId, messageChainId } = chain
    const plain = known?.chain ?? { streamId, partition, publisherId, messageChainId }
    const forgotten = this.#heads.setWithEvicted(key, { chain: plain, last: placeOf(place) })?.value
    if (forgotten) {
      this.#forgottenUpTo = laterPlace(this.#forgottenUpTo, forgotten.last)
      this.#onForgotten(forgotten.chain, forgotten.last)
    }
    return true
  }

  clear(): void {
    this.#heads.clear()
    this.#forgottenUpTo = undefined
  }

  *[Symbol.iterator](): IterableIterator<readonly [MessageChain, MessageRef]> {
    for (const head of this.#heads.values()) if (head !== undefined) yield [head.chain, head.last]
  }
}

export function keyOfChain({ partition, publisherId, messageChainId }: MessageChain): string {
  return `${partition} ${publisherId} ${messageChainId}`
}
