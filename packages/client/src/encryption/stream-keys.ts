import {
  cardHash,
  epochIdOf,
  isSameBytes,
  linkChain,
  readerTag,
  type Card,
  type Ciphers,
  type Crypto,
  type EncryptionChoice,
  type EpochId,
  type EpochRecord,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import { tagTextOf } from './card-holder.ts'
import { coverOf } from './epoch-cover.ts'
import type { KeyPart } from './key-part.ts'
import { newestEpochOf } from './newest-epoch.ts'

/**
 * How a reader gets an opener's keys: `linked` finds them with nobody else online; `unlinked` (has a card) and `no-card` (has none) must
 * ask.
 */
export type ReaderState = 'linked' | 'unlinked' | 'no-card'

/** A user whose keys are in use, and the readers who can open what those keys encrypt. Contains no secrets. */
export interface OpenerKeys {
  readonly userId: NodeId
  readonly epochId: EpochId
  /** Unix milliseconds. */
  readonly createdMs: number
  /** The epoch takes into account all permissions in force in this block of the registry's chain; 0 if there is no chain. */
  readonly readersAtBlock: number
  /** How many readers the epoch was made for, besides the opener; undefined if a part of it was not found. */
  readonly readerCount: number | undefined
  /** The state of each user who may read, without the opener itself. */
  readonly readers: ReadonlyMap<NodeId, ReaderState>
  /** How many readers with a card were not checked for a link, because there are too many. */
  readonly unchecked: number
}

/** Who can open what is published to a stream. Contains no secrets. */
export interface StreamKeys {
  readonly streamId: StreamId
  /** Whether messages published now are encrypted. */
  readonly isEncrypted: boolean
  readonly choice: EncryptionChoice
  /** Users who may subscribe, by id, each with its card if storage nodes have one. */
  readonly readers: ReadonlyMap<NodeId, Card | undefined>
  /** The key holder and the publishers that have a key; at most 100. */
  readonly openers: readonly OpenerKeys[]
  /**
   * False if storage nodes did not answer, or refused, for some records or cards: openers may be missing, linked readers be called unlinked, and readers
   * with a card be said to have none.
   */
  readonly isComplete: boolean
}

/** A key that was just made. */
export interface RotatedKeys {
  readonly epochId: EpochId
  /** How many readers it was made for, besides the user itself. */
  readonly readers: number
  /** Whether storage nodes have the key. If they do not, only readers that are online get it. */
  readonly isStored: boolean
}

export interface StreamKeysModules {
  readonly ciphers: Ciphers
  readonly crypto: Crypto
  readonly keyPart: Pick<KeyPart, 'find'>
  /** Of those that may read. */
  readonly cards: ReadonlyMap<NodeId, Card>
  readonly readerIds: readonly NodeId[]
  readonly signal: AbortSignal
}

/** Links sought for one opener; each is a request to storage nodes. */
const maxLinkLookups = 1_000
const lookupsAtOnce = 16

/** What is known of an opener's keys; undefined where it has none. Throws what the registry throws, and ABORTED. */
export async function openerKeys(
  userId: NodeId,
  modules: StreamKeysModules,
): Promise<OpenerKeys | undefined> {
  const { ciphers, crypto, keyPart, cards, readerIds, signal } = modules
  const record = await newestEpochOf(userId, keyPart, signal)
  if (record === undefined) return undefined
  const { commitment, createdMs, readersAtBlock } = record
  const epochId = epochIdOf(commitment)
  const others = readerIds.filter((id) => id !== userId)
  const withCard = others.flatMap((id) => cards.get(id) ?? [])
  const looked = withCard.slice(0, maxLinkLookups)
  const states = new Map<NodeId, ReaderState>()
  for (const id of others) if (!cards.has(id)) states.set(id, 'no-card')
  const linked = await linkedOf(userId, record, looked, modules)
  for (const card of looked) states.set(card.userId, linked.has(card.userId) ? 'linked' : 'unlinked')
  const cover = await coverOf(userId, record, keyPart, signal)
  // An opener without a reading key makes its keys for its own user's card as well.
  const own = cards.get(userId)
  const ownTag = own && tagTextOf({ userId, cardHash: cardHash(own, crypto) }, ciphers)
  const readerCount = cover?.tags.filter((tag) => tag !== ownTag).length
  return {
    ...{ userId, epochId, createdMs, readersAtBlock, readerCount },
    ...{ readers: states, unchecked: withCard.length - looked.length },
  }
}

/** Those that have a link to the opener's present keyring, sealed to the card that they have now. */
async function linkedOf(
  openerId: NodeId,
  { keyringId }: EpochRecord,
  cards: readonly Card[],
  { ciphers, crypto, keyPart, signal }: StreamKeysModules,
): Promise<ReadonlySet<NodeId>> {
  const linked = new Set<NodeId>()
  for (let i = 0; i < cards.length; i += lookupsAtOnce)
    await Promise.all(
      cards.slice(i, i + lookupsAtOnce).map(async (card) => {
        const link = await keyPart.find(openerId, linkChain(ciphers, keyringId, card.userId), signal)
        if (
          link?.kind === 'link' &&
          isSameBytes(link.tag, readerTag(ciphers, card.userId, cardHash(card, crypto)))
        )
          linked.add(card.userId)
      }),
    )
  return linked
}
