import {
  bytesOfEpochId,
  encodeCard,
  isRunnelError,
  isSameBytes,
  readerHint,
  requestChain,
  type Card,
  type Ciphers,
  type Crypto,
  type EncryptionChoice,
  type EpochId,
  type NodeId,
  type Random,
  type StreamMessage,
} from '@runnel/protocol'
import { anyOf, pause } from '../deadline.ts'
import { asError, clientError, reasonOf } from '../errors.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import { AnswerDesk } from './answer-desk.ts'
import { Background } from './background.ts'
import { answerLastRequests } from './last-requests.ts'
import { KeyFinder, type WantedKey } from './key-finder.ts'
import { KeysInStorage } from './keys-in-storage.ts'
import { KeySearch } from './key-search.ts'
import { isLasting } from './lasting-reasons.ts'
import type { FoundRecord, KeyPart } from './key-part.ts'
import { keyringMaster } from './keyring.ts'
import { KnownKeys } from './known-keys.ts'
import { Opener, type RotatedEpoch } from './opener.ts'
import type { SealingEpoch } from './sealing-epoch.ts'
import type { OwnCard } from './own-card.ts'
import { OpenersKeys } from './openers-keys.ts'
import type { StreamKeys } from './stream-keys.ts'
import type { EncryptionNews } from './encryption-news.ts'
import { ReaderSet, type ReaderSetModules, type ToldChange } from './reader-set.ts'

export interface StreamEncryptionOptions {
  readonly stream: StreamInfo
  readonly choice: EncryptionChoice
}

export interface StreamEncryptionModules extends ReaderSetModules {
  readonly userId: NodeId
  readonly keyPart: Pick<KeyPart, keyof KeyPart>
  readonly ciphers: Ciphers
  readonly crypto: Crypto
  readonly random: Random
  readonly card: OwnCard
  readonly cardsOf: (
    users: readonly NodeId[],
    stream: StreamInfo,
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<NodeId, Card>>
  readonly cache: Pick<RegistryCache, 'getStream'>
  /** Waits until storage nodes have records; rejects when that takes too long. */
  readonly stored: (places: readonly MessagePlace[], signal: AbortSignal) => Promise<void>
  readonly say: (news: EncryptionNews) => void
  /** Why the registry does not answer; undefined while it does. */
  readonly outage: () => Error | undefined
  /** Aborted when the client closes. */
  readonly signal: AbortSignal
}

/** How soon the registry is asked again what the stream is now, where it did not say. */
const askAgainMs = 2_000
/** How long a publisher without a link waits for the key holder, which may not be there, before it uses a key of its own. */
const maxHolderWaitMs = 500

/** The encryption of one stream in this process: opens epochs as a publisher, finds keys as a reader, and answers others. */
export class StreamEncryption {
  readonly stream: StreamInfo
  readonly choice: EncryptionChoice
  readonly known: KnownKeys
  readonly opener: Opener
  readonly keyPart: StreamEncryptionModules['keyPart']
  readonly readers: ReaderSet
  readonly #modules: StreamEncryptionModules
  readonly #finder: KeyFinder
  /** By which links to this user are known. */
  readonly #hint: Uint8Array
  readonly #desk: AnswerDesk
  readonly #search: KeySearch
  readonly #storage: KeysInStorage
  readonly #openersKeys: OpenersKeys
  readonly #background: Background
  readonly #closing = new AbortController()
  #isAskingAgain = false
  /** In the key part. */
  #neighbours: readonly NodeId[] = []
  /** Aborted when the key holder links this user. */
  #linked = new AbortController()

  constructor(options: StreamEncryptionOptions, outside: StreamEncryptionModules) {
    const { stream, choice } = options
    const { ciphers, userId } = outside
    this.#hint = readerHint(ciphers, userId)
    const modules = { ...outside, signal: AbortSignal.any([outside.signal, this.#closing.signal]) }
    this.choice = choice
    this.stream = stream
    this.#modules = modules
    this.known = new KnownKeys({ ciphers })
    this.keyPart = modules.keyPart
    this.readers = new ReaderSet({ streamId: stream.id }, modules)
    const onProblem = (error: unknown) => this.#problem(error)
    this.#background = new Background({ onProblem })
    const storage = new KeysInStorage(
      { streamId: stream.id },
      { ...modules, background: this.#background, opener: () => this.opener },
    )
    this.#storage = storage
    const onPublished = (place: MessagePlace) => storage.add(place)
    const confirmed = () => storage.confirmed()
    const common = { ...modules, streamId: stream.id, choice, onPublished, confirmed }
    const parts = { readers: this.readers, keyPart: this.keyPart, known: this.known }
    const cardsOf = (users: readonly NodeId[], signal: AbortSignal) => modules.cardsOf(users, stream, signal)
    this.#finder = new KeyFinder({
      ...common,
      ...parts,
      cardKeys: (signal) => modules.card.keys(stream, signal),
      keyring: () => this.opener.keyring,
      openersFor: (publisherId) => this.#openersFor(publisherId),
    })
    this.#search = new KeySearch(stream, { ...modules, finder: this.#finder })
    this.opener = new Opener(
      { streamId: stream.id, userId, choice },
      {
        ...common,
        ...parts,
        cardsOf,
        finder: this.#finder,
        askHolder: (id) => this.#askHolder(id),
        keyringMaster: (signal) => this.#keyringMaster(signal),
        onRotated: (epochId, count) => modules.say({ state: 'rotated', epochId, readers: count }),
        onProblem,
      },
    )
    const { opener } = this
    const onAnswered = (place: MessagePlace) => storage.addAnswer(place)
    this.#desk = new AnswerDesk({ ...common, ...parts, onPublished: onAnswered, cardsOf, opener })
    this.#openersKeys = new OpenersKeys(
      { choice },
      { ...modules, ...parts, cardsOf, finder: this.#finder, desk: this.#desk, opener },
    )
    this.keyPart.onRecord = (found) => this.#onRecord(found)
    this.known.onKey = () => this.#search.wake()
  }

  /** Messages are read from now on: new keys come as they are made, and others can encrypt for this user. */
  attend(): void {
    this.keyPart.join()
    const { card, signal } = this.#modules
    // A person is asked when there is something to read; whatever else fails now is tried again then, and reported.
    if (card.isSilent) card.ensure(this.stream, signal).catch(() => {})
  }

  /** The epoch to seal in, at once; undefined where that takes time. */
  get sealingNow(): SealingEpoch | undefined {
    return this.#stopped === undefined ? this.opener.current : undefined
  }

  /** The registry stopped answering: nobody may hear of a revocation. */
  uncertain(error: Error): void {
    if (this.opener.isOpen) this.#sayUncertain(error)
  }

  /** The registry answers again: who was taken away meanwhile is read before anything is sealed. */
  certainAgain(): void {
    if (this.choice.onOutage === 'stop') this.readers.changed(undefined)
  }

  /** Why the owner wants nothing published now. */
  get #stopped(): Error | undefined {
    return this.choice.onOutage === 'stop' ? this.#modules.outage() : undefined
  }

  /** The epoch to seal in. Throws KEYS_UNCERTAIN where nobody can say who may read and the owner wants nothing published then. */
  async sealing(): Promise<SealingEpoch> {
    this.keyPart.join()
    // A single question may have failed. An answer ends the outage.
    if (this.#stopped !== undefined) await this.#modules.list(this.stream.id).catch(() => {})
    const stopped = this.#stopped
    if (stopped !== undefined) throw clientError('KEYS_UNCERTAIN', reasonOf(stopped), { cause: stopped })
    try {
      return await this.opener.epoch(this.#modules.signal)
    } catch (error) {
      if (!isRunnelError(error) || this.#modules.signal.aborted) throw error
      if (this.opener.last === undefined || this.choice.onOutage === 'stop')
        throw clientError('KEYS_UNCERTAIN', reasonOf(error), { cause: error })
      this.#sayUncertain(error)
      return this.opener.epochAsKnown(this.#modules.signal)
    }
  }

  /** As of the search. */
  find(wanted: WantedKey, sealedMs: number): Promise<void> {
    return this.#search.find(wanted, sealedMs)
  }

  receive(message: StreamMessage): void {
    this.keyPart.receive(message)
  }

  /** The neighbours in the key part changed: one that is new may have keys that were given up. */
  neighboursChanged(neighbours: readonly NodeId[]): void {
    if (neighbours.some((id) => !this.#neighbours.includes(id))) this.#search.wake()
    this.#neighbours = neighbours
  }

  /** The permissions of a user, or of anybody, changed. */
  changed(user: NodeId | undefined, told: ToldChange = {}): void {
    this.readers.changed(user, told)
    this.#desk.permissionsChanged(user)
    if (user === undefined || user === this.#modules.userId) {
      this.keyPart.permissionsChanged()
      this.#search.wake()
    }
    this.#background.run(async () => {
      const { clock, signal, userId } = this.#modules
      if (!this.opener.isOpen) return
      if (this.choice.keyHolder === userId) await this.sealing()
      else await this.readers.refresh()
      const newcomers = user === undefined ? this.readers.readersAt(clock.now()) : [user]
      await this.opener.link(newcomers, signal)
      await this.#storage.confirmed()
    })
  }

  /** What is not stored is tried again: there may be storage nodes now. */
  storeAgain(): void {
    this.#storage.storeAgain()
  }

  /** Has a valid key for all publishers. Throws NOT_KEY_HOLDER, and what `sealing` throws. */
  async hold(): Promise<void> {
    const { keyHolder } = this.choice
    if (keyHolder !== this.#modules.userId)
      throw clientError(
        'NOT_KEY_HOLDER',
        `of ${this.stream.id}: ${keyHolder ?? 'each publisher has its own keys'}`,
      )
    await this.sealing()
  }

  /** Makes a new key now, for so many readers. Throws NOT_KEY_HOLDER, and what the registry throws when it cannot say who may read. */
  async rotate(): Promise<RotatedEpoch> {
    const { userId, signal } = this.#modules
    const { keyHolder = userId } = this.choice
    if (keyHolder !== userId) throw clientError('NOT_KEY_HOLDER', `of ${this.stream.id}: ${keyHolder}`)
    this.keyPart.join()
    return this.opener.rotate(signal)
  }

  /** Whose keys are in use, by id, and who can open what they close; with their cards. No secrets. */
  keys(): Promise<Pick<StreamKeys, 'readers' | 'openers' | 'isComplete'>> {
    return this.#openersKeys.list()
  }

  /** Passes on to a new reader what this process can read itself, so that the reader needs nobody. Resolves when it is stored. */
  async share(readerId: NodeId, card?: Card): Promise<void> {
    if (await this.#openersKeys.share(readerId, card)) await this.settled(this.#modules.signal)
  }

  /** Resolves when what was published is stored. Throws what `stored` throws. */
  settled(signal: AbortSignal): Promise<void> {
    return this.#storage.settled(signal)
  }

  /**
   * Resolves when storage nodes have the keys that were made here, and the links to them, or this is closed. Tries until the signal is aborted:
   * throws ABORTED.
   */
  keysStored(signal: AbortSignal): Promise<void> {
    return this.#storage.keysStored(signal)
  }

  /** Resolves when this process can end: what it published is stored, or those who are there have asked for it. */
  async finish(signal: AbortSignal): Promise<void> {
    await this.#storage.finish(signal)
    if (this.#storage.isUnstored) await answerLastRequests({ ...this.#modules, desk: this.#desk }, signal)
  }

  /** What waits for a key rejects with ABORTED. */
  close(): void {
    this.#closing.abort()
    this.#storage.close()
    this.keyPart.leave()
  }

  /**
   * Whether the stream has other metadata now, or is another stream. Where the registry does not say, nobody tells of the change again: false, and
   * `askAgain` is called after a while.
   */
  async isReplaced(askAgain: () => void): Promise<boolean> {
    const { id, metadata, createdMs } = this.stream
    try {
      const info = await this.#modules.cache.getStream(id)
      return info?.metadata !== metadata || info.createdMs !== createdMs
    } catch {
      void this.#later(askAgain)
      return false
    }
  }

  async #later(askAgain: () => void): Promise<void> {
    const { clock, signal } = this.#modules
    if (this.#isAskingAgain) return
    this.#isAskingAgain = true
    await pause(clock, askAgainMs, signal)
    this.#isAskingAgain = false
    if (!signal.aborted) askAgain()
  }

  /** The stream was changed: there is another one in place of this. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  #onRecord(found: FoundRecord): void {
    const { record, publisherId } = found
    const { userId } = this.#modules
    this.#desk.receive(found)
    if (record.kind === 'answer' && record.readerId === userId) this.#search.takeAnswer(record)
    const isForMe = record.kind === 'link' && isSameBytes(record.hint, this.#hint)
    if (record.kind === 'link') this.#finder.forgetLinks(publisherId)
    if (publisherId === this.choice.keyHolder && publisherId !== userId) {
      if (record.kind === 'newest' || isForMe) this.opener.follow()
      if (record.kind === 'epoch') this.opener.follow(record)
      if (isForMe) {
        this.#linked.abort()
        this.#linked = new AbortController()
      }
    }
    if (publisherId === userId && (record.kind === 'newest' || record.kind === 'epoch'))
      this.#background.run(() => this.opener.join(this.#modules.signal))
    const isOfOpener = this.#search.publishers.some((id) => this.#openersFor(id).includes(publisherId))
    if (isOfOpener && (isForMe || record.kind === 'epoch' || record.kind === 'cohort')) this.#search.wake()
  }

  #openersFor(publisherId: NodeId): readonly NodeId[] {
    const { keyHolder } = this.choice
    return keyHolder === undefined || keyHolder === publisherId ? [publisherId] : [publisherId, keyHolder]
  }

  /** Asks for a link to this publisher. One that comes later is used from then on. */
  async #askHolder(id: EpochId): Promise<void> {
    const { card, clock, signal } = this.#modules
    const own = encodeCard(await card.ensure(this.stream, signal))
    const linked = anyOf(this.#linked.signal, signal)
    this.keyPart.publish(requestChain, { kind: 'request', card: own, wanted: [bytesOfEpochId(id)] })
    await pause(clock, maxHolderWaitMs, linked)
  }

  /** Undefined where this process has no reading key: then it opens with a keyring of its own. Throws where it cannot be had now. */
  async #keyringMaster(signal: AbortSignal): Promise<Uint8Array | undefined> {
    const { card, ciphers } = this.#modules
    // Nobody is asked for leave to read because of a message that it publishes.
    if (!card.isSilent) return undefined
    try {
      const readingKey = await card.readingKey(this.stream, signal)
      return keyringMaster(ciphers, readingKey, this.stream.id)
    } catch (error) {
      if (signal.aborted || !isLasting(error)) throw error
      return undefined
    }
  }

  #sayUncertain(error: Error): void {
    this.#modules.say({ state: 'uncertain', isStopped: this.choice.onOutage === 'stop', error })
  }

  #problem(error: unknown): void {
    if (!this.#modules.signal.aborted) this.#modules.say({ state: 'unshared', error: asError(error) })
  }
}
