import { isCardSignedByKey, newerCard, type Card, type NodeId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { requireGoodCard, type CardCheckModules } from './check-card.ts'

interface Known {
  readonly card: Card
  /** By the monotonic clock. */
  readonly lookedUpMs: number
}

/** The newest good card of each user that was ever seen here; a bounded cache that never goes back to an older one. */
export class KnownCards {
  readonly #modules: CardCheckModules
  readonly #known: LRU<Known>

  constructor({ maxCachedCards }: { readonly maxCachedCards: number }, modules: CardCheckModules) {
    this.#modules = modules
    this.#known = new LRU(maxCachedCards)
  }

  /** Unless it was looked up before `sinceMs`. */
  get(userId: NodeId, sinceMs: number): Card | undefined {
    const known = this.#known.get(userId)
    return known === undefined || known.lookedUpMs < sinceMs ? undefined : known.card
  }

  /**
   * Of the cards that were found of a user, and the one that is known, the newest that is good; undefined when there is none, or only older
   * ones than are known. Never throws: what cannot be checked is not good now.
   */
  async newestOf(userId: NodeId, found: readonly Card[], nowMs: number): Promise<Card | undefined> {
    const known = this.#known.get(userId)?.card
    // Older ones were replaced by their user.
    const newer = found.filter((card) => known === undefined || newerCard(known, card) !== known)
    newer.sort((a, b) => (newerCard(a, b) === a ? -1 : 1))
    for (const card of known === undefined ? newer : [...newer, known]) {
      if (!(await this.#isGood(card, card === known))) continue
      this.#known.set(userId, { card, lookedUpMs: nowMs })
      return card
    }
    return undefined
  }

  /** What a key signed once it has signed for ever; a contract is asked again. */
  async #isGood(card: Card, isKnown: boolean): Promise<boolean> {
    if (isKnown && (card.block === 0 || isCardSignedByKey(card, this.#modules.crypto))) return true
    return requireGoodCard(card, this.#modules).then(
      () => true,
      () => false,
    )
  }
}
