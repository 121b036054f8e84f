import type { Card, NodeId } from '@runnel/protocol'
import type { StreamInfo } from '../registry/ports.ts'

/**
 * Where the reading keys of this process's user come from: one fixed signature, by the user's key in this process or by a wallet, or a key
 * that is kept. From a reading key follow the key pair of the user's card, and the keys with which the user encrypts. `openReadingKey` is
 * how to take one into use: it looks at the user's card first.
 */
export interface ReadingKeySource {
  /** The generation of a key that is kept, which has no other; undefined where there is a key for every generation. */
  readonly onlyGeneration: number | undefined
  /** Asks no person. */
  readonly isSilent: boolean
  /**
   * 32 bytes, the same each time as long as the signer signs deterministically. Throws NO_READING_KEY where this process has none, such as
   * a delegate to which none was given; READING_KEY_OTHER_GENERATION; or what the signer throws, such as WALLET_REFUSED.
   */
  readingKey(generation: number, signal?: AbortSignal): Promise<Uint8Array>
  /**
   * A card of the user with that public key. Asks a signer for its reading key a second time before: READING_KEY_CHANGED when that is
   * another, as nobody should encrypt for a key that cannot be made again. Throws CARD_NEEDS_USER where this process has neither the
   * user's key nor a card that was given to it, and what the signer throws.
   */
  signCard(generation: number, publicKey: Uint8Array, signal?: AbortSignal): Promise<Card>
}

/** Where cards are found and kept: storage nodes. */
export interface Cards {
  /** Puts a card of this user where others find it, also for those of a stream. Throws NO_STORAGE_NODE where there is none. */
  put(card: Card, stream?: StreamInfo, signal?: AbortSignal): Promise<unknown>
  /** The newest card of each user, as far as they are found and good. Throws CARDS_UNAVAILABLE when nobody can be asked who has more. */
  cardsOf(
    userIds: readonly NodeId[],
    stream?: StreamInfo,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<NodeId, Card>>
}
