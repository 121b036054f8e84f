import {
  cardHash,
  deriveKey,
  isSameHash,
  type Card,
  type Ciphers,
  type Crypto,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { publicKeyOf } from './hpke.ts'
import type { CardDirectory, ReadingKeySource } from './ports.ts'

/** Generations before the present one whose links can still be opened. */
const maxOlderGenerations = 16

/** A key pair with which others encrypt for this user. */
export interface CardKey {
  readonly generation: number
  /** 32 bytes. */
  readonly privateKey: Uint8Array
}

export interface OwnCardModules {
  readonly userId: NodeId
  readonly source: ReadingKeySource
  readonly directory: CardDirectory
  readonly ciphers: Ciphers
  readonly crypto: Crypto
}

/** The card of this process's user, and the keys behind it. */
export class OwnCard {
  readonly #modules: OwnCardModules
  readonly #keys = new Map<number, Promise<Uint8Array>>()
  #card: Promise<Card> | undefined

  constructor(modules: OwnCardModules) {
    this.#modules = modules
  }

  /**
   * The card that counts; signs and publishes one where there is none. Throws NO_READING_KEY, READING_KEY_CHANGED when the one that
   * others find has another key, or what signing throws. That no storage node could be asked is no error: then the card is only in this process.
   */
  ensure(streamId: StreamId | undefined, signal: AbortSignal): Promise<Card> {
    this.#card ??= this.#ensure(streamId, signal).catch((error: unknown) => {
      this.#card = undefined
      throw error
    })
    return this.#card
  }

  /** The reading key of the present generation. Throws as `ensure` does. */
  async readingKey(streamId: StreamId | undefined, signal: AbortSignal): Promise<Uint8Array> {
    const { generation } = await this.ensure(streamId, signal)
    return this.#readingKey(generation, signal)
  }

  /** The keys of the card and of those before it, the newest first. Throws as `ensure` does. */
  async keys(streamId: StreamId | undefined, signal: AbortSignal): Promise<readonly CardKey[]> {
    const { onlyGeneration } = this.#modules.source
    const { generation } = await this.ensure(streamId, signal)
    const oldest = onlyGeneration ?? Math.max(0, generation - maxOlderGenerations)
    const generations = Array.from({ length: generation - oldest + 1 }, (_, i) => generation - i)
    return Promise.all(
      generations.map(async (one) => ({ generation: one, privateKey: await this.#cardKey(one, signal) })),
    )
  }

  /** The hash of the card. */
  async hash(streamId: StreamId | undefined, signal: AbortSignal): Promise<Uint8Array> {
    return cardHash(await this.ensure(streamId, signal), this.#modules.crypto)
  }

  async #ensure(streamId: StreamId | undefined, signal: AbortSignal): Promise<Card> {
    const { userId, source, directory } = this.#modules
    const found = await directory.cardsOf([userId], streamId, signal).then(
      (cards) => cards.get(userId),
      (error: unknown) => {
        if (signal.aborted) throw error
        return undefined
      },
    )
    const generation = source.onlyGeneration ?? found?.generation ?? 0
    if (found !== undefined && found.generation > generation)
      throw clientError('READING_KEY_CHANGED', `the card has generation ${found.generation}`)
    const publicKey = await publicKeyOf(await this.#cardKey(generation, signal))
    if (found?.generation === generation) {
      if (isSameHash(found.publicKey, publicKey)) return found
      throw clientError('READING_KEY_CHANGED', `generation ${generation}`)
    }
    const card = await source.signCard(generation, publicKey, signal)
    await directory.put(card, streamId, signal).catch((error: unknown) => {
      if (signal.aborted) throw error
    })
    return card
  }

  async #cardKey(generation: number, signal: AbortSignal): Promise<Uint8Array> {
    return deriveKey(this.#modules.ciphers, await this.#readingKey(generation, signal), 'card')
  }

  #readingKey(generation: number, signal: AbortSignal): Promise<Uint8Array> {
    const known = this.#keys.get(generation)
    if (known !== undefined) return known
    const asked = this.#modules.source.readingKey(generation, signal)
    this.#keys.set(generation, asked)
    // Asked again the next time: a person may have said no by mistake.
    asked.catch(() => this.#keys.delete(generation))
    return asked
  }
}
