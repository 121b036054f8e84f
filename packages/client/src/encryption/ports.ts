import type { Card, NodeId } from '@runnel/protocol'
import type { StreamInfo } from '../registry/ports.ts'

/**
 * The source of the reading keys of this process's user: one fixed signature, by the user's key in this process or by a wallet, or a
 * stored key. The key pair of the user's card and the keys with which the user encrypts follow from a reading key. `openReadingKey` takes
 * a reading key into use: it looks at the user's card first.
 */
export interface ReadingKeySource {
  /** The generation of a stored key, which has no other; undefined if there is a key for every generation. */
  readonly onlyGeneration: number | undefined
  /** Whether no person is asked. */
  readonly isSilent: boolean
  /**
   * Returns 32 bytes, the same each time as long as the signer signs deterministically. Throws NO_READING_KEY if this process has none,
   * such as a delegate that was given none; READING_KEY_OTHER_GENERATION; or an error of the signer, such as WALLET_REFUSED.
   */
  readingKey(generation: number, signal?: AbortSignal): Promise<Uint8Array>
  /**
   * Returns a card of the user with that public key. First asks a signer for its reading key a second time, and throws READING_KEY_CHANGED
   * if it differs, because nobody should encrypt for a key that cannot be made again. Throws CARD_NEEDS_USER if this process has neither
   * the user's key nor a card that was given to it, and errors of the signer.
   */
  signCard(generation: number, publicKey: Uint8Array, signal?: AbortSignal): Promise<Card>
}

/** Finds and keeps cards: on storage nodes. */
export interface Cards {
  /** Stores a card of this user for others to find, also for readers of a stream. Throws NO_STORAGE_NODE if there is none. */
  put(card: Card, stream?: StreamInfo, signal?: AbortSignal): Promise<unknown>
  /** Returns the newest card of each user, if one is found and valid. Throws CARDS_UNAVAILABLE if nobody who has more can be asked. */
  cardsOf(
    userIds: readonly NodeId[],
    stream?: StreamInfo,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<NodeId, Card>>
}
