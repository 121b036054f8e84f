import { compareRefs, type MessageChain, type MessageRef } from '@runnel/protocol'
import { placeOf } from '../resend/selection.ts'

interface Head {
  readonly chain: MessageChain
  last: MessageRef
}

/** How far each chain was delivered. Bounded; the chain unused longest is forgotten first. */
export class ChainHeads {
  readonly #maxChains: number
  /** In order of use. */
  readonly #heads = new Map<string, Head>()

  constructor(maxChains: number) {
    this.#maxChains = maxChains
  }

  get(chain: MessageChain): MessageRef | undefined {
    return this.#heads.get(keyOfChain(chain))?.last
  }

  /** False when the chain was delivered as far already. */
  advance(chain: MessageChain, place: MessageRef): boolean {
    const key = keyOfChain(chain)
    const known = this.#heads.get(key)
    if (known !== undefined && compareRefs(place, known.last) <= 0) return false
    this.#heads.delete(key)
    for (const oldest of this.#heads.keys()) {
      if (this.#heads.size < this.#maxChains) break
      this.#heads.delete(oldest)
    }
    const { streamId, partition, publisherId, messageChainId } = chain
    const plain = known?.chain ?? { streamId, partition, publisherId, messageChainId }
    this.#heads.set(key, { chain: plain, last: placeOf(place) })
    return true
  }

  clear(): void {
    this.#heads.clear()
  }

  *[Symbol.iterator](): IterableIterator<readonly [MessageChain, MessageRef]> {
    for (const { chain, last } of this.#heads.values()) yield [chain, last]
  }
}

export function keyOfChain({ partition, publisherId, messageChainId }: MessageChain): string {
  return `${partition} ${publisherId} ${messageChainId}`
}
