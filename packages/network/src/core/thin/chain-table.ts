import { noEntries, type NodeId } from '@runnel/protocol'

export interface ChainTableLimits {
  readonly maxChains: number
  readonly maxChainsOfPublisher: number
}

/** A chain whose flood is thinned, under an alias of this node. */
export interface AliasedChain {
  readonly id: { readonly publisherId: NodeId; readonly messageChainId: string }
  readonly alias: number
}

/** How many first aliases there are: few enough for three bytes in a packet. */
const firstAliases = 2 ** 19

/** Chains whose floods are thinned, by what tells them apart and by alias: a bounded number, of all and of one publisher. */
export class ChainTable<K, C extends AliasedChain> implements Iterable<C> {
  readonly #limits: ChainTableLimits
  readonly #random: () => number
  #chains: Map<K, C> = noEntries()
  #byAlias: Map<number, C> = noEntries()
  #ofPublisher: Map<NodeId, number> = noEntries()
  #lastAlias = 0

  /** `random` in [0, 1): neighbours may still use aliases of an earlier process of this node, which are none here. */
  constructor(limits: ChainTableLimits, random: () => number) {
    this.#limits = limits
    this.#random = random
  }

  get size(): number {
    return this.#chains.size
  }

  [Symbol.iterator](): IterableIterator<C> {
    return this.#chains.values()
  }

  find(key: K): C | undefined {
    return this.#chains.get(key)
  }

  byAlias(alias: number): C | undefined {
    return this.#byAlias.get(alias)
  }

  /** Undefined when there are too many. */
  add(key: K, publisherId: NodeId, make: (alias: number) => C): C | undefined {
    const { maxChains, maxChainsOfPublisher } = this.#limits
    const ofPublisher = this.#ofPublisher.get(publisherId) ?? 0
    if (this.#chains.size >= maxChains || ofPublisher >= maxChainsOfPublisher) return undefined
    if (this.#chains === noEntries<K, C>()) {
      this.#chains = new Map()
      this.#byAlias = new Map()
      this.#ofPublisher = new Map()
      this.#lastAlias ||= Math.floor(this.#random() * firstAliases)
    }
    const chain = make((this.#lastAlias = (this.#lastAlias + 1) >>> 0))
    this.#ofPublisher.set(publisherId, ofPublisher + 1)
    this.#chains.set(key, chain)
    this.#byAlias.set(chain.alias, chain)
    return chain
  }

  forget(key: K): void {
    const chain = this.#chains.get(key)
    if (chain === undefined) return
    this.#chains.delete(key)
    this.#byAlias.delete(chain.alias)
    const { publisherId } = chain.id
    const left = (this.#ofPublisher.get(publisherId) ?? 0) - 1
    if (left > 0) this.#ofPublisher.set(publisherId, left)
    else this.#ofPublisher.delete(publisherId)
  }
}
