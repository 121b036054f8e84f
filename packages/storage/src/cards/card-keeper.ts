import {
  decodeCard,
  encodeCard,
  newerCard,
  protocolError,
  type Card,
  type Clock,
  type NodeId,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { storageError } from '../errors.ts'
import type { StorageLimits } from '../storage-limits.ts'
import type { CardTable } from '../store/stored-cards.ts'

export interface CardKeeperModules {
  readonly store: CardTable
  /** Throws CARD_… for a card that is not good, or not its user's. */
  readonly check: (card: Card) => Promise<void>
  readonly clock: Pick<Clock, 'now'>
}

export interface CardKeeperStatus {
  /** Cards that were new, or newer, since the start. */
  readonly kept: number
  readonly refused: number
  /** Deleted because there were too many. */
  readonly evicted: number
}

/** When there are too many cards, they are deleted down to this share, so that this does not happen for every card. */
const lowWater = 0.99

/**
 * Keeps the newest card of each user. Anybody can sign cards without end, so of too many those stay whose users were seen to read a
 * stream here that not everybody may read; of the others the oldest go.
 */
export class CardKeeper {
  readonly #limits: Pick<StorageLimits, 'maxCards'>
  readonly #modules: CardKeeperModules
  /** Seen to read lately. */
  readonly #members: LRU<boolean>
  readonly #counters = { kept: 0, refused: 0, evicted: 0 }
  /** Cards in the store; read first when it is needed. */
  #count: number | undefined
  /** One change after the other. */
  #lane: Promise<unknown> = Promise.resolve()

  constructor(limits: Pick<StorageLimits, 'maxCards' | 'maxKnownMembers'>, modules: CardKeeperModules) {
    this.#limits = limits
    this.#modules = modules
    this.#members = new LRU(limits.maxKnownMembers)
  }

  status(): CardKeeperStatus {
    return { ...this.#counters }
  }

  /**
   * Resolves when the card is durable, or one that says the same is there already. Throws CARD_OLDER_GENERATION, CARD_REPLAYED, CARDS_FULL,
   * what `check` throws, and what the store throws.
   */
  async keep(card: Card): Promise<void> {
    try {
      // Before the signature is checked, which may take a chain.
      if (await this.#isThere(card)) return
      await this.#modules.check(card)
      await this.#inLane(async () => {
        if (!(await this.#isThere(card))) await this.#put(card)
      })
    } catch (error) {
      this.#counters.refused++
      throw error
    }
  }

  /** Those that there are. */
  async of(userIds: readonly NodeId[]): Promise<readonly Card[]> {
    const found = await this.#modules.store.cardsOf(userIds)
    return [...found].map(([userId, bytes]) => decoded(userId, bytes))
  }

  /** The user reads a stream that is kept here, and that not everybody may read. Throws what the store throws. */
  async memberSeen(userId: NodeId): Promise<void> {
    if (this.#members.get(userId) === true) return
    await this.#modules.store.vouchFor(userId)
    this.#members.set(userId, true)
  }

  /** Whether a card that says the same is there. Throws CARD_OLDER_GENERATION or CARD_REPLAYED where a newer one is. */
  async #isThere(card: Card): Promise<boolean> {
    const [known] = await this.of([card.userId])
    if (known === undefined || newerCard(known, card) === card) return false
    if (newerCard(card, known) === card) return true
    const code = card.generation < known.generation ? 'CARD_OLDER_GENERATION' : 'CARD_REPLAYED'
    throw protocolError(code, `of ${card.userId}`)
  }

  async #put(card: Card): Promise<void> {
    const { store, clock } = this.#modules
    const { userId } = card
    const isNew = (await store.cardsOf([userId])).size === 0
    if (isNew) await this.#makeRoom()
    const isVouched = this.#members.get(userId) === true
    await store.putCard({ userId, bytes: encodeCard(card), keptMs: clock.now(), isVouched })
    if (isNew && this.#count !== undefined) this.#count++
    this.#counters.kept++
  }

  /** Throws CARDS_FULL. */
  async #makeRoom(): Promise<void> {
    const { store } = this.#modules
    const { maxCards } = this.#limits
    this.#count ??= await store.cardCount()
    if (this.#count < maxCards) return
    this.#counters.evicted += await store.pruneCards(Math.floor(maxCards * lowWater))
    this.#count = await store.cardCount()
    if (this.#count >= maxCards) throw storageError('CARDS_FULL', `${maxCards} of users that read here`)
  }

  #inLane<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#lane.then(run)
    this.#lane = result.catch(() => {})
    return result
  }
}

/** Throws STORE_CORRUPT when the bytes are none. */
function decoded(userId: NodeId, bytes: Uint8Array): Card {
  try {
    return decodeCard(bytes)
  } catch (cause) {
    throw storageError('STORE_CORRUPT', `card of ${userId}`, { cause })
  }
}
