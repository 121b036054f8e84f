import type { Card, NodeId } from '@runnel/protocol'

/**
 * Where the reading keys of this process's user come from: its private key, one fixed signature of a wallet, or a seed that is kept. From a
 * reading key follow the key pair of the user's card, and the keys with which the user encrypts.
 */
export interface ReadingKeySource {
  /** The generation of a kept seed, which has no other; undefined where there is a key for every generation. */
  readonly onlyGeneration: number | undefined
  /**
   * 32 bytes, the same each time. Throws NO_READING_KEY where this process has none, such as a delegate without a seed; or what the
   * signer throws, such as WALLET_REFUSED.
   */
  readingKey(generation: number, signal: AbortSignal): Promise<Uint8Array>
  /** Signs a card of the user with that public key, dated now. Throws NO_READING_KEY where this process cannot, or what the signer throws. */
  signCard(generation: number, publicKey: Uint8Array, signal: AbortSignal): Promise<Card>
}

/** Where cards are found and kept: storage nodes. */
export interface CardDirectory {
  /** Has storage nodes keep a card of this user. Rejects when none did. */
  put(card: Card, streamId: string | undefined, signal: AbortSignal): Promise<void>
  /** The newest valid card of each user that has one, and can be found. Checked. Rejects when no storage node could be asked. */
  cardsOf(
    userIds: readonly NodeId[],
    streamId: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<NodeId, Card>>
}
