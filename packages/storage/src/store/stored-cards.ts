import type { NodeId } from '@runnel/protocol'

/** A user's card. */
export interface StoredCard {
  readonly userId: NodeId
  /** As `encodeCard` writes it. */
  readonly bytes: Uint8Array
  /** When it came, in Unix milliseconds. */
  readonly keptMs: number
  /** The user reads a stream that is kept here: of too many cards, its card stays. */
  readonly isVouched: boolean
}

/** Keeps a card for each user, durably; beside messages, and independent of them. */
export interface CardTable {
  /** In place of an earlier one of the user. Who was vouched for stays so. */
  putCard(card: StoredCard): Promise<void>
  /** The bytes of those that there are. */
  cardsOf(userIds: readonly NodeId[]): Promise<ReadonlyMap<NodeId, Uint8Array>>
  /** The user's card, if there is one, is to stay. */
  vouchFor(userId: NodeId): Promise<void>
  cardCount(): Promise<number>
  /** Deletes cards that nobody vouched for, the oldest first, until at most so many are left. Gives how many went. */
  pruneCards(maxCards: number): Promise<number>
}
