import {
  epochIdOf,
  isRunnelError,
  isSameBytes,
  newestChain,
  type Card,
  type Ciphers,
  type Clock,
  type Crypto,
  type EncryptionChoice,
  type NodeId,
} from '@runnel/protocol'
import type { AnswerDesk } from './answer-desk.ts'
import type { EncryptionNews } from './encryption-news.ts'
import type { KeyFinder } from './key-finder.ts'
import type { KeyPart } from './key-part.ts'
import type { KnownKeys } from './known-keys.ts'
import type { Opener } from './opener.ts'
import type { ReaderSet } from './reader-set.ts'
import { openerKeys, type StreamKeys } from './stream-keys.ts'

export interface OpenersKeysModules {
  readonly ciphers: Ciphers
  readonly crypto: Crypto
  readonly clock: Clock
  readonly keyPart: Pick<KeyPart, 'join' | 'find'>
  readonly known: Pick<KnownKeys, 'epochs' | 'publisherKeys'>
  readonly readers: Pick<ReaderSet, 'refresh' | 'doubt' | 'mayOpen' | 'readersAt' | 'publishersAt'>
  readonly opener: Pick<Opener, 'isOpen' | 'linkTo' | 'loadKeyring'>
  readonly finder: Pick<KeyFinder, 'look'>
  readonly desk: Pick<AnswerDesk, 'seal'>
  readonly cardsOf: (users: readonly NodeId[], signal: AbortSignal) => Promise<ReadonlyMap<NodeId, Card>>
  readonly say: (news: EncryptionNews) => void
  /** Aborted when nothing is published any more. */
  readonly signal: AbortSignal
}

/** Openers whose keys are passed on to a new reader. */
const maxSharedOpeners = 100
/** Openers in a list. */
const maxListedOpeners = 100
/** Users asked after, of whom not all have keys. */
const maxOpeners = 1_000
const openersAtOnce = 16

/** The keys of all who may open epochs of a stream: lists them, and passes them on to readers. */
export class OpenersKeys {
  readonly #choice: EncryptionChoice
  readonly #modules: OpenersKeysModules

  constructor(options: { readonly choice: EncryptionChoice }, modules: OpenersKeysModules) {
    this.#choice = options.choice
    this.#modules = modules
  }

  /** Whose keys are in use, by id, and who can open what they close; with their cards. No secrets. */
  async list(): Promise<Pick<StreamKeys, 'readers' | 'openers' | 'isComplete'>> {
    const { clock, keyPart, readers, cardsOf, signal } = this.#modules
    keyPart.join()
    await readers.refresh()
    const readerIds = readers.readersAt(clock.now())
    let isComplete = true
    const cards = await cardsOf(readerIds, signal).catch((error: unknown) => {
      if (!isRunnelError(error, 'CARDS_UNAVAILABLE')) throw error
      isComplete = false
      return new Map<NodeId, Card>()
    })
    const onSilent = () => void (isComplete = false)
    /** Those that say which epoch is their newest. */
    const announcing = new Set<NodeId>()
    const find: KeyPart['find'] = async (openerId, chain, until) => {
      const record = await keyPart.find(openerId, chain, until, onSilent)
      if (chain === newestChain && record !== undefined) announcing.add(openerId)
      return record
    }
    const modules = { ...this.#modules, keyPart: { find }, cards, readerIds }
    const openers = await this.#ofOpeners(maxListedOpeners, async (openerId) => {
      const keys = await openerKeys(openerId, modules)
      // Of that epoch nobody has the record, or not yet.
      if (keys === undefined && announcing.has(openerId)) isComplete = false
      return keys
    })
    return { readers: new Map(readerIds.map((id) => [id, cards.get(id)])), openers, isComplete }
  }

  /** Passes on to a new reader what this process can read itself, so that the reader needs nobody. False where it has no card. */
  async share(readerId: NodeId, card?: Card): Promise<boolean> {
    const { keyPart, readers, opener, desk, cardsOf, signal, say } = this.#modules
    const found = card ?? (await cardsOf([readerId], signal)).get(readerId)
    if (found === undefined) {
      say({ state: 'no-card', userId: readerId })
      return false
    }
    keyPart.join()
    // Its permission may not have been told of yet.
    readers.doubt(readerId)
    await readers.refresh()
    if (opener.isOpen) await opener.linkTo(found, signal)
    const keys = this.#choice.history === 'none' ? [] : await this.#newestFor(readerId)
    if (keys.length > 0) await desk.seal(found, keys)
    return true
  }

  /** The keys of the newest epochs of publishers, as far as this user may be given them. */
  async #newestFor(readerId: NodeId): Promise<readonly Uint8Array[]> {
    const { keyPart, known, readers, opener, finder, signal } = this.#modules
    await readers.refresh()
    await opener.loadKeyring(signal)
    return this.#ofOpeners(maxSharedOpeners, async (openerId) => {
      const newest = await keyPart.find(openerId, newestChain, signal)
      if (newest?.kind !== 'newest') return undefined
      const id = epochIdOf(newest.commitment)
      const keyOf = () => known.epochs(id).find((one) => isSameBytes(one.commitment, newest.commitment))
      const tried = known.publisherKeys(id, openerId)
      if (keyOf() === undefined) await finder.look({ publisherId: openerId, id, tried }, signal)
      const found = keyOf()
      return found && readers.mayOpen(readerId, found.createdMs) ? found.key : undefined
    })
  }

  /** What the first openers have of those that have any. */
  async #ofOpeners<T>(max: number, get: (openerId: NodeId) => Promise<T | undefined>): Promise<readonly T[]> {
    const openers = this.#openers().slice(0, maxOpeners)
    const found: T[] = []
    for (let i = 0; i < openers.length && found.length < max; i += openersAtOnce) {
      const some = await Promise.all(openers.slice(i, i + openersAtOnce).map(get))
      found.push(...some.filter((one) => one !== undefined))
    }
    return found.slice(0, max)
  }

  /** Who may open epochs now: the key holder, and publishers. */
  #openers(): readonly NodeId[] {
    const { keyHolder } = this.#choice
    const publishers = this.#modules.readers.publishersAt(this.#modules.clock.now())
    return [...new Set(keyHolder === undefined ? publishers : [keyHolder, ...publishers])]
  }
}
