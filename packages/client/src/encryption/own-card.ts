import {
  cardHash,
  isRunnelError,
  type Card,
  type Ciphers,
  type Crypto,
  type NodeId,
  type RunnelError,
} from '@runnel/protocol'
import { waited } from '../deadline.ts'
import { cardPrivateKeyOf, cardPublicKeyOf } from './card-key.ts'
import type { StreamInfo } from '../registry/ports.ts'
import { openReadingKey, renewReadingKey, type OwnReadingKey } from './own-reading-key.ts'
import type { Cards, ReadingKeySource } from './ports.ts'

/** Generations before the present one whose links can still be opened. */
const maxOlderGenerations = 16

/** A key pair with which others encrypt for this user. */
export interface CardKey {
  readonly generation: number
  /** From which the rest follows. */
  readonly readingKey: Uint8Array
  /** 32 bytes. */
  readonly privateKey: Uint8Array
}

export interface OwnCardModules {
  readonly userId: NodeId
  readonly source: ReadingKeySource
  readonly directory: Cards
  readonly ciphers: Ciphers
  readonly crypto: Crypto
  /** Aborted when the client closes. */
  readonly signal: AbortSignal
}

/** The card of this process's user, and the keys behind it; looked up and made when they are needed. */
export class OwnCard {
  readonly #modules: OwnCardModules
  readonly #olderKeys = new Map<number, Promise<Uint8Array>>()
  #own: Promise<OwnReadingKey> | undefined
  /** The generation that the user took into use elsewhere, asked for once. */
  #next: { readonly generation: number; readonly own: Promise<OwnReadingKey> } | undefined
  /** What the user refused. */
  #refusal: RunnelError | undefined

  constructor(modules: OwnCardModules) {
    this.#modules = modules
  }

  /** Whether nobody is asked when the keys are taken into use: they are already, or need no person. */
  get isSilent(): boolean {
    return this.#own !== undefined || this.#modules.source.isSilent
  }

  /** The card that counts; signs and publishes one where there is none. Throws what `openReadingKey` throws. */
  async ensure(stream: StreamInfo | undefined, signal: AbortSignal): Promise<Card> {
    return (await this.#open(stream, signal)).card
  }

  /** The reading key of the present generation. Throws as `ensure` does. */
  async readingKey(stream: StreamInfo | undefined, signal: AbortSignal): Promise<Uint8Array> {
    return (await this.#open(stream, signal)).readingKey
  }

  /** The hash of the card. Throws as `ensure` does. */
  async hash(stream: StreamInfo | undefined, signal: AbortSignal): Promise<Uint8Array> {
    return cardHash(await this.ensure(stream, signal), this.#modules.crypto)
  }

  /** The keys of the card and of those before it, the newest first. Throws as `ensure` does. */
  async keys(stream: StreamInfo | undefined, signal: AbortSignal): Promise<readonly CardKey[]> {
    const { source, ciphers } = this.#modules
    const { card, readingKey } = await this.#open(stream, signal)
    const cardKey = (generation: number, key: Uint8Array): CardKey => ({
      ...{ generation, readingKey: key, privateKey: cardPrivateKeyOf(ciphers, key) },
    })
    const newest = cardKey(card.generation, readingKey)
    if (source.onlyGeneration !== undefined) return [newest]
    const oldest = Math.max(0, card.generation - maxOlderGenerations)
    const older = Array.from({ length: card.generation - oldest }, (_, i) => card.generation - 1 - i)
    const keys = older.map(async (generation) =>
      cardKey(generation, await waited(this.#olderKey(generation), signal)),
    )
    return [newest, ...(await Promise.all(keys))]
  }

  /** Takes the next generation into use. Throws what `renewReadingKey` throws. */
  async renew(signal: AbortSignal): Promise<Card> {
    const { userId, directory } = this.#modules
    const renewed = await renewReadingKey(userId, { ...this.#reading(), directory }, signal)
    this.#own = Promise.resolve(renewed)
    return renewed.card
  }

  /**
   * Takes the next generation into use where the user did so elsewhere. Throws as `ensure` does: READING_KEY_OTHER_GENERATION where the key was
   * given, which has no other.
   */
  async refresh(stream: StreamInfo, signal: AbortSignal): Promise<void> {
    const { userId, directory } = this.#modules
    const before = this.#own
    if (before === undefined) return
    const known = (await directory.cardsOf([userId], stream, signal)).get(userId)
    if (known === undefined || known.generation <= (await waited(before, signal)).card.generation) return
    if (this.#next?.generation !== known.generation) this.#takeNext(known.generation, stream, before)
    if (this.#next !== undefined) await waited(this.#next.own, signal)
  }

  #takeNext(generation: number, stream: StreamInfo, before: Promise<OwnReadingKey>): void {
    const own = openReadingKey(this.#modules.userId, this.#reading(), stream, this.#modules.signal)
    const next = (this.#next = { generation, own })
    own.then(
      () => {
        if (this.#own === before) this.#own = own
      },
      (error: unknown) => {
        if (!isRefusal(error) && this.#next === next) this.#next = undefined
      },
    )
  }

  /** A person that said no is not asked again for each message: only for no stream, when the application wants the card. */
  #open(stream: StreamInfo | undefined, signal: AbortSignal): Promise<OwnReadingKey> {
    if (this.#refusal !== undefined && stream !== undefined) return Promise.reject(this.#refusal)
    this.#refusal = undefined
    // All wait for the same one: it does not end with the first that asked.
    this.#own ??= openReadingKey(this.#modules.userId, this.#reading(), stream, this.#modules.signal).catch(
      (error: unknown) => {
        this.#own = undefined
        if (isRefusal(error)) this.#refusal = error
        throw error
      },
    )
    return waited(this.#own, signal)
  }

  #reading() {
    const { source, directory, ciphers } = this.#modules
    return {
      source,
      directory: whereThereIsOne(directory),
      publicKeyOf: (readingKey: Uint8Array) => cardPublicKeyOf(ciphers, readingKey),
    }
  }

  #olderKey(generation: number): Promise<Uint8Array> {
    const known = this.#olderKeys.get(generation)
    if (known !== undefined) return known
    const asked = this.#modules.source.readingKey(generation, this.#modules.signal)
    this.#olderKeys.set(generation, asked)
    asked.catch(() => this.#olderKeys.delete(generation))
    return asked
  }
}

function isRefusal(error: unknown): error is RunnelError {
  return isRunnelError(error, 'WALLET_REFUSED') || isRunnelError(error, 'SIGNER_REFUSED')
}

/** In a network without storage nodes a card is handed over with a request for keys. */
function whereThereIsOne(directory: Cards): Cards {
  const unless =
    <T>(instead: T) =>
    (error: unknown): T => {
      if (isRunnelError(error) && error.code === 'NO_STORAGE_NODE') return instead
      throw error
    }
  return {
    put: (card, stream, signal) => directory.put(card, stream, signal).catch(unless(undefined)),
    cardsOf: (users, stream, signal) =>
      directory.cardsOf(users, stream, signal).catch(unless(new Map<NodeId, Card>())),
  }
}
