import {
  isRunnelError,
  type Card,
  type Ciphers,
  type Clock,
  type Crypto,
  type EncryptionChoice,
  type EpochRecord,
  type NodeId,
} from '@runnel/protocol'
import { recipientOf, tagTextOf, type Recipient } from './card-holder.ts'
import { coverOf } from './epoch-cover.ts'
import type { EpochKey } from './epoch-plan.ts'
import type { KeyPart } from './key-part.ts'
import type { ReaderSet } from './reader-set.ts'

export interface EpochReadersOptions {
  readonly userId: NodeId
  readonly choice: EncryptionChoice
}

export interface EpochReadersModules {
  readonly ciphers: Ciphers
  readonly crypto: Crypto
  readonly clock: Clock
  readonly readers: Pick<ReaderSet, 'mayOpen' | 'reads' | 'publishes'>
  readonly keyPart: Pick<KeyPart, 'find'>
  readonly cardsOf: (users: readonly NodeId[], signal: AbortSignal) => Promise<ReadonlyMap<NodeId, Card>>
  /** The cards of readers cannot be had. */
  readonly onProblem: (error: unknown) => void
}

/** For whom epochs of a stream are: users with the cards they have, in the roles they have. */
export class EpochReaders {
  readonly #options: EpochReadersOptions
  readonly #modules: EpochReadersModules

  constructor(options: EpochReadersOptions, modules: EpochReadersModules) {
    this.#options = options
    this.#modules = modules
  }

  /** That no storage node answers, then undefined, is no reason not to publish: readers ask when they come. */
  async cards(users: readonly NodeId[], signal: AbortSignal): Promise<ReadonlyMap<NodeId, Card> | undefined> {
    if (users.length === 0) return new Map()
    try {
      return await this.#modules.cardsOf(users, signal)
    } catch (error) {
      if (signal.aborted || !isRunnelError(error)) throw error
      this.#modules.onProblem(error)
      return undefined
    }
  }

  recipient(card: Card): Recipient {
    return recipientOf(card, this.#modules.crypto)
  }

  /** Those of the users that have a card. */
  recipients(users: readonly NodeId[], cards: ReadonlyMap<NodeId, Card>): readonly Recipient[] {
    return users.flatMap((user) => {
      const card = cards.get(user)
      return card === undefined ? [] : [this.recipient(card)]
    })
  }

  /** Whether an epoch is for nobody but readers with the cards they have now; and without history, for all of these. */
  async areAllOf(
    openerId: NodeId,
    record: EpochRecord,
    readerIds: readonly NodeId[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { ciphers, keyPart } = this.#modules
    const cards = (await this.cards(readerIds, signal)) ?? new Map<NodeId, Card>()
    const cover = await coverOf(openerId, record, keyPart, signal)
    if (cover === undefined) return false
    // Two may have the same tag: each stands for one of them.
    const tags = new Set(cover.tags)
    if (tags.size !== cover.tags.length) return false
    const holders = this.recipients(readerIds, cards)
    const wanted = holders.map((one) => ({ userId: one.userId, tag: tagTextOf(one, ciphers) }))
    const allowed = new Set(wanted.map(({ tag }) => tag))
    if (!cover.tags.every((tag) => allowed.has(tag))) return false
    const isForAll = wanted.every(({ userId, tag }) => userId === openerId || tags.has(tag))
    return this.#options.choice.history !== 'none' || isForAll
  }

  /** As what a user may be linked now, beginning with that epoch. */
  roleOf(userId: NodeId, { createdMs }: EpochKey): 'reader' | 'publisher' | undefined {
    const { readers, clock } = this.#modules
    if (readers.mayOpen(userId, createdMs)) return 'reader'
    const nowMs = clock.now()
    // Nor is there a link for a publisher in place of the one that this reader may have.
    if (readers.reads(userId, nowMs)) return undefined
    const isHolder = this.#options.choice.keyHolder === this.#options.userId
    return isHolder && readers.publishes(userId, nowMs) ? 'publisher' : undefined
  }
}
