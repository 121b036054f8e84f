import {
  cardProblem,
  isSameBytes,
  type Card,
  type Ciphers,
  type Clock,
  type Crypto,
  type NodeId,
} from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { requestCard } from '../identity/request-card.ts'
import { requestSignature, signingUser, type AccountsOnChain } from '../identity/request-signature.ts'
import type { KeptReadingKeys } from '../identity/session-reading-keys.ts'
import type { StatementSigner } from '../identity/signer.ts'
import type { ReadingKeySource } from './ports.ts'
import { readingKeyOf, readingKeyStatement } from './reading-key.ts'

export interface ReadingKeyModules {
  /** Which users are contracts. */
  readonly accounts: AccountsOnChain
  readonly ciphers: Ciphers
  readonly crypto: Crypto
  readonly clock: Pick<Clock, 'now'>
}

export interface SignedReadingKeysOptions {
  readonly signer: StatementSigner
  /** Of the registries; 0 where they are on none. */
  readonly chainId: number
  /** Where they are kept for others of the same session. Default: for this client alone. */
  readonly kept?: KeptReadingKeys | undefined
}

/**
 * Reading keys from one signature each of the user: by its key in this process, or by a wallet or another signer, which is asked once a
 * session. The same account has the same keys in both.
 */
export class SignedReadingKeys implements ReadingKeySource {
  readonly onlyGeneration = undefined
  readonly isSilent: boolean
  readonly #options: SignedReadingKeysOptions
  readonly #modules: ReadingKeyModules
  readonly #known = new Map<number, Uint8Array>()

  constructor(options: SignedReadingKeysOptions, modules: ReadingKeyModules) {
    this.isSilent = options.signer.isSilent === true
    this.#options = options
    this.#modules = modules
  }

  async readingKey(generation: number, signal?: AbortSignal): Promise<Uint8Array> {
    const { kept } = this.#options
    const known = this.#known.get(generation)
    if (known !== undefined) return known
    const open = async (): Promise<Uint8Array> => {
      const before = this.#known.get(generation) ?? kept?.get(generation)
      const key = before ?? (await this.#ask(generation, signal))
      this.#known.set(generation, key)
      if (before === undefined) kept?.set(generation, key)
      return key
    }
    return kept === undefined ? open() : kept.exclusively(open, signal)
  }

  async signCard(generation: number, publicKey: Uint8Array, signal?: AbortSignal): Promise<Card> {
    const { kept } = this.#options
    const key = await this.readingKey(generation, signal)
    const sign = async (): Promise<Card> => {
      const before = kept?.card()
      if (before?.generation === generation && isSameBytes(before.publicKey, publicKey)) return before
      if (!isSameBytes(key, await this.#ask(generation, signal)))
        throw clientError('READING_KEY_CHANGED', 'it signs the same text differently each time')
      const { signer, chainId } = this.#options
      const card = await requestCard(signer, { chainId, generation, publicKey }, this.#modules, signal)
      kept?.setCard(card)
      return card
    }
    return kept === undefined ? sign() : kept.exclusively(sign, signal)
  }

  async #ask(generation: number, signal?: AbortSignal): Promise<Uint8Array> {
    const { signer, chainId } = this.#options
    const { accounts, ciphers, crypto } = this.#modules
    const user = await signingUser(signer, accounts, signal)
    if (user.block > 0)
      throw clientError('NO_READING_KEY', `${user.userId} is a contract, whose signatures differ each time`)
    const claim = { ...user, chainId, generation }
    const { signature } = await requestSignature(signer, readingKeyStatement, { claim, crypto, signal })
    return readingKeyOf(ciphers, signature.subarray(0, 64), user.userId, generation)
  }
}

export interface GivenReadingKeyOptions {
  readonly userId: NodeId
  readonly generation: number
  readonly readingKey: Uint8Array
  readonly chainId: number
  /** A card for that key, that the user signed elsewhere. */
  readonly card?: Card | undefined
  /** Signs cards of the user, where this process can ask it. */
  readonly signer?: StatementSigner | undefined
}

/** A reading key that was given to this process, with its generation. */
export class GivenReadingKey implements ReadingKeySource {
  readonly onlyGeneration: number
  readonly isSilent = true
  readonly #options: GivenReadingKeyOptions
  readonly #modules: Omit<ReadingKeyModules, 'ciphers'>

  constructor(options: GivenReadingKeyOptions, modules: Omit<ReadingKeyModules, 'ciphers'>) {
    this.onlyGeneration = options.generation
    this.#options = options
    this.#modules = modules
  }

  async readingKey(generation: number): Promise<Uint8Array> {
    this.#require(generation)
    return this.#options.readingKey
  }

  async signCard(generation: number, publicKey: Uint8Array, signal?: AbortSignal): Promise<Card> {
    this.#require(generation)
    const { userId, chainId, card, signer } = this.#options
    if (signer !== undefined)
      return requestCard(signer, { chainId, generation, publicKey }, this.#modules, signal)
    if (card === undefined || !isSameBytes(card.publicKey, publicKey))
      throw clientError('CARD_NEEDS_USER', userId)
    const problem = cardProblem(card, { chainId, wallMs: this.#modules.clock.now() })
    if (problem !== undefined) throw problem
    return card
  }

  #require(generation: number): void {
    if (generation !== this.onlyGeneration)
      throw clientError('READING_KEY_OTHER_GENERATION', `it is ${this.onlyGeneration}, not ${generation}`)
  }
}

/** Of a process that was given none, and has nobody to ask. */
export function noReadingKey(userId: NodeId): ReadingKeySource {
  return {
    onlyGeneration: undefined,
    isSilent: true,
    readingKey: async () => {
      throw clientError('NO_READING_KEY', `it acts for ${userId} by a delegation`)
    },
    signCard: async () => {
      throw clientError('CARD_NEEDS_USER', userId)
    },
  }
}
