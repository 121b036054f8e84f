import {
  cardHash,
  cohortChain,
  epochChain,
  epochIdOf,
  isRunnelError,
  isSameHash,
  keyBytes,
  newestChain,
  publisherKeyOf,
  publishersChain,
  readerTag,
  toHex,
  type Card,
  type Ciphers,
  type Clock,
  type Crypto,
  type EncryptionChoice,
  type EpochId,
  type EpochRecord,
  type NodeId,
  type Random,
  type StreamId,
} from '@runnel/protocol'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import { cohortsIn, coverOf } from './epoch-cover.ts'
import { planEpoch, type Cohort, type EpochKey } from './epoch-plan.ts'
import type { KeyFinder } from './key-finder.ts'
import type { KeyPart } from './key-part.ts'
import { Keyring } from './keyring.ts'
import type { KnownKeys } from './known-keys.ts'
import { ReaderLinks } from './reader-links.ts'
import type { ReaderSet } from './reader-set.ts'
import type { Recipient } from './sealed-records.ts'

/** What messages are sealed with now. */
export interface SealingEpoch {
  readonly id: EpochId
  /** Of this user in that epoch: 32 bytes. */
  readonly publisherKey: Uint8Array
}

export interface OpenerOptions {
  readonly streamId: StreamId
  readonly userId: NodeId
  readonly choice: EncryptionChoice
}

export interface OpenerModules {
  readonly ciphers: Ciphers
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly readers: ReaderSet
  readonly keyPart: Pick<KeyPart, 'publish' | 'find'>
  readonly known: KnownKeys
  readonly finder: Pick<KeyFinder, 'open' | 'writerKey'>
  /** Of this user in this stream, the same in each of its processes; undefined where this process has no reading key. */
  readonly keyringMaster: (signal: AbortSignal) => Promise<Uint8Array | undefined>
  readonly cardsOf: (users: readonly NodeId[], signal: AbortSignal) => Promise<ReadonlyMap<NodeId, Card>>
  /** A record was published; for whoever waits until it is stored. */
  readonly onPublished: (place: MessagePlace) => void
  readonly onRotated: (id: EpochId, readers: number) => void
  /** Readers could not be told of their keys; they ask for them when they come. */
  readonly onProblem: (error: unknown) => void
}

interface CurrentEpoch extends SealingEpoch {
  readonly commitment: Uint8Array
  readonly createdMs: number
  readonly keyringId: Uint8Array
  /** The epoch's key; undefined where this user may only publish and another opens. */
  readonly key: Uint8Array | undefined
  readonly readersAtMs: number
  /** The changes of readers that it regards. */
  readonly changes: number
  /** Unix milliseconds: until a reader's permission ends, or the epoch is too old. */
  readonly validUntilMs: number
  readonly isOwn: boolean
}

const dayMs = 86_400_000

/** Opens epochs of a stream: makes their keys, tells the readers, and makes new ones when readers go. */
export class Opener {
  readonly #options: OpenerOptions
  readonly #modules: OpenerModules
  readonly #links: ReaderLinks
  #keyring: Keyring | undefined
  /** All processes of the user have the same one. */
  #isKeyringShared = false
  #current: CurrentEpoch | undefined
  #renewing: Promise<CurrentEpoch> | undefined
  #cohorts: readonly (Cohort | undefined)[] = []
  /** This opener's epochs that new readers may read, the newest first. */
  #earlier: readonly EpochKey[] = []

  constructor(options: OpenerOptions, modules: OpenerModules) {
    this.#options = options
    this.#modules = modules
    this.#links = new ReaderLinks(options, { ...modules, roleOf: (userId) => this.#roleOf(userId) })
  }

  get keyring(): Keyring | undefined {
    return this.#keyring
  }

  /** It has an epoch that is, or was, in use. */
  get isOpen(): boolean {
    return this.#current?.isOwn === true
  }

  /** The epoch to seal in, if it needs no thought: everybody who can read it may. */
  get current(): SealingEpoch | undefined {
    return this.#modules.readers.isCurrent ? this.#valid : undefined
  }

  /** What was used last, valid or not. */
  get last(): SealingEpoch | undefined {
    return this.#current
  }

  /** The epoch to seal in; makes one if need be. Throws what the registry throws when it cannot say who may read. */
  async epoch(signal: AbortSignal): Promise<SealingEpoch> {
    const { readers } = this.#modules
    for (;;) {
      await readers.refresh()
      const valid = this.#valid
      if (valid !== undefined) return valid
      this.#renewing ??= this.#renew(signal).finally(() => (this.#renewing = undefined))
      await this.#renewing
    }
  }

  get #valid(): CurrentEpoch | undefined {
    const current = this.#current
    const isValid = current?.changes === this.#changes && this.#modules.clock.now() < current.validUntilMs
    return isValid ? current : undefined
  }

  /** Of readers, those after which an epoch has to be replaced. */
  get #changes(): number {
    const { losses, gains } = this.#modules.readers
    return this.#options.choice.history === 'none' ? losses + gains : losses
  }

  /** How long the present epoch can be used, if nothing changes; 0 when it cannot be. */
  get validForMs(): number {
    return Math.max(0, (this.#valid?.validUntilMs ?? 0) - this.#modules.clock.now())
  }

  /** Makes a new epoch, whether or not one is needed; for so many readers. */
  async rotate(signal: AbortSignal): Promise<{ readonly id: EpochId; readonly readers: number }> {
    await this.#modules.readers.refresh()
    // The one before may be another process's.
    if (!this.isOpen) await this.#resumed(signal)
    return this.#open(signal)
  }

  /**
   * Another process of the opener told of a new epoch: that is used from now on, if it is newer than the present one and for nobody who may
   * not read. Of two that are made at once, all processes take the same.
   */
  async follow(openerId: NodeId, signal: AbortSignal): Promise<void> {
    const { readers, clock, keyPart } = this.#modules
    const { choice, userId } = this.#options
    const current = this.#current
    if (current === undefined || openerId !== (choice.keyHolder ?? userId)) return
    const newest = await keyPart.find(openerId, newestChain, signal)
    if (newest?.kind !== 'newest') return
    const record = await keyPart.find(openerId, epochChain(epochIdOf(newest.commitment)), signal)
    const isOfSame = current.isOwn === (openerId === userId)
    if (record?.kind !== 'epoch' || (isOfSame && record.createdMs <= current.createdMs)) return
    await readers.refresh()
    const sinceMs = readers.lossMs(clock.now())
    const changes = this.#changes
    const found =
      openerId === userId ? await this.#resumed(signal) : await this.#ofHolder(openerId, sinceMs, signal)
    if (this.#current !== current || found === undefined || !this.#isUsable(found, sinceMs)) return
    this.#current = { ...found, changes }
  }

  /** Links readers that have no link yet, so that they can read when nobody is there. Resolves when their links are published. */
  async link(users: readonly NodeId[], signal: AbortSignal): Promise<void> {
    const current = this.#current
    if (current?.isOwn !== true) return
    const cards = await this.#modules.cardsOf(users, signal)
    await this.#link(this.#recipients(users, cards), current)
  }

  /** Links one reader by a card that it sent itself. */
  async linkTo(card: Card): Promise<void> {
    const current = this.#current
    if (current?.isOwn === true) await this.#link([this.#recipient(card)], current)
  }

  /** Prepares to open its own epochs. */
  async loadKeyring(signal: AbortSignal): Promise<void> {
    await this.#ownKeyring(signal)
  }

  /** Resolves when all links that were begun are published. */
  async settled(): Promise<void> {
    await this.#links.settled()
  }

  async #renew(signal: AbortSignal): Promise<CurrentEpoch> {
    const { readers, clock } = this.#modules
    const { choice, userId } = this.#options
    const sinceMs = readers.lossMs(clock.now())
    // Readers that go meanwhile make what comes out invalid again.
    const changes = this.#changes
    if (choice.keyHolder !== undefined && choice.keyHolder !== userId) {
      const held = await this.#ofHolder(choice.keyHolder, sinceMs, signal)
      if (held !== undefined && this.#isUsable(held, sinceMs)) return (this.#current = { ...held, changes })
    }
    if (!this.isOpen) {
      const before = await this.#resumed(signal)
      if (before !== undefined && this.#isUsable(before, sinceMs))
        return (this.#current = { ...before, changes })
    }
    return (await this.#open(signal)).epoch
  }

  #isUsable({ readersAtMs, validUntilMs }: CurrentEpoch, sinceMs: number): boolean {
    return readersAtMs >= sinceMs && this.#modules.clock.now() < validUntilMs
  }

  /** The holder's newest epoch, while it is for nobody who may not read. */
  async #ofHolder(holderId: NodeId, sinceMs: number, signal: AbortSignal): Promise<CurrentEpoch | undefined> {
    const { keyPart, readers, clock } = this.#modules
    const newest = await keyPart.find(holderId, newestChain, signal)
    if (newest?.kind !== 'newest') return undefined
    const id = epochIdOf(newest.commitment)
    const record = await keyPart.find(holderId, epochChain(id), signal)
    if (record?.kind !== 'epoch' || record.readersAtMs < sinceMs) return undefined
    const readerIds = readers.readersAt(clock.now())
    if (!readerIds.includes(holderId) || !(await this.#isForNobodyElse(holderId, record, readerIds, signal)))
      return undefined
    const opened = await this.#modules.finder.open(holderId, record, signal)
    if (opened !== undefined) return this.#accepted(record, opened.key, false)
    const publisherKey = await this.#modules.finder.writerKey(holderId, record, signal)
    return publisherKey === undefined ? undefined : this.#acceptedAs(record, undefined, publisherKey, false)
  }

  /** The last epoch of this user, made by this or another process, if everybody in it may still read. */
  async #resumed(signal: AbortSignal): Promise<CurrentEpoch | undefined> {
    const { keyPart, readers, clock } = this.#modules
    const { userId } = this.#options
    const keyring = await this.#ownKeyring(signal)
    const newest = await keyPart.find(userId, newestChain, signal)
    if (newest?.kind !== 'newest' || !isSameHash(newest.keyringId, keyring.id)) return undefined
    const record = await keyPart.find(userId, epochChain(epochIdOf(newest.commitment)), signal)
    if (record?.kind !== 'epoch' || !isSameHash(record.keyringId, keyring.id)) return undefined
    const opened = await this.#modules.finder.open(userId, record, signal)
    if (opened === undefined) return undefined
    this.#earlier = [opened]
    const readerIds = readers.readersAt(clock.now())
    if (!(await this.#isForNobodyElse(userId, record, readerIds, signal))) return undefined
    const epoch = this.#accepted(record, opened.key, true)
    // It may be for fewer than there are now.
    this.#inBackground(() => this.link(readerIds, signal))
    return epoch
  }

  /** Whether all whom an epoch is for are readers now, with the cards they have now. Takes over what is known of an own one. */
  async #isForNobodyElse(
    openerId: NodeId,
    record: EpochRecord,
    readerIds: readonly NodeId[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { ciphers, keyPart } = this.#modules
    const holders = this.#recipients(readerIds, await this.#cards(readerIds, signal))
    const allowed = new Set(holders.map((one) => toHex(readerTag(ciphers, one.userId, one.cardHash))))
    const cover = await coverOf(openerId, record, keyPart, signal)
    if (cover === undefined || !cover.tags.every((tag) => allowed.has(tag))) return false
    if (openerId !== this.#options.userId) return true
    this.#links.add(cover.tags)
    if (this.#keyring !== undefined)
      this.#cohorts = cohortsIn(record, cover, holders, { keyring: this.#keyring, ciphers })
    return true
  }

  async #open(
    signal: AbortSignal,
  ): Promise<{ readonly id: EpochId; readonly readers: number; readonly epoch: CurrentEpoch }> {
    const { ciphers, random, readers, clock, keyPart, onPublished, onRotated } = this.#modules
    const { choice, userId } = this.#options
    const keyring = await this.#ownKeyring(signal)
    const createdMs = clock.now()
    const changes = this.#changes
    // The user itself has its keyring, unless that is this process's alone.
    const readerIds = readers.readersAt(createdMs).filter((id) => !this.#isKeyringShared || id !== userId)
    const writerIds = choice.keyHolder === userId ? readers.writersAt(createdMs) : []
    const cards = await this.#cards([...readerIds, ...writerIds], signal)
    const recipients = this.#recipients(readerIds, cards)
    const before = this.#current?.isOwn === true ? this.#current : undefined
    if (before?.key !== undefined)
      this.#earlier = [{ ...before, key: before.key }, ...this.#earlier].slice(0, 16)
    const planned = planEpoch(
      {
        readers: recipients,
        publishers: this.#recipients(writerIds, cards),
        earlier: choice.history === 'none' ? [] : this.#earlier,
        cohorts: this.#cohorts,
        createdMs,
        readersAtMs: createdMs,
      },
      { keyring, ciphers, random },
    )
    this.#cohorts = planned.cohorts
    this.#modules.known.add(planned.key)
    const say = (chainId: string, record: Parameters<typeof keyPart.publish>[1]) =>
      onPublished(keyPart.publish(chainId, record))
    for (const { cohortId, record } of planned.newCohorts) say(cohortChain(cohortId), record)
    for (const [i, record] of planned.publisherRecords.entries())
      say(publishersChain(planned.commitment, i), record)
    say(epochChain(planned.id), planned.record)
    say(newestChain, { kind: 'newest', keyringId: keyring.id, commitment: planned.commitment })
    const current = { ...this.#accepted(planned.record, planned.key, true), changes }
    this.#current = current
    this.#inBackground(() => this.#link([...recipients, ...this.#recipients(writerIds, cards)], current))
    onRotated(planned.id, recipients.length)
    return { id: planned.id, readers: recipients.length, epoch: current }
  }

  /** That no storage node answers is no reason not to publish: readers ask when they come. */
  async #cards(users: readonly NodeId[], signal: AbortSignal): Promise<ReadonlyMap<NodeId, Card>> {
    if (users.length === 0) return new Map()
    try {
      return await this.#modules.cardsOf(users, signal)
    } catch (error) {
      if (signal.aborted || !isRunnelError(error)) throw error
      this.#modules.onProblem(error)
      return new Map()
    }
  }

  #accepted(record: EpochRecord, key: Uint8Array, isOwn: boolean): CurrentEpoch {
    const publisherKey = publisherKeyOf(this.#modules.ciphers, key, this.#options.userId)
    return this.#acceptedAs(record, key, publisherKey, isOwn)
  }

  #acceptedAs(
    { commitment, keyringId, createdMs, readersAtMs }: EpochRecord,
    key: Uint8Array | undefined,
    publisherKey: Uint8Array,
    isOwn: boolean,
  ): CurrentEpoch {
    const { readers, clock } = this.#modules
    const { rotateAfterDays = 7 } = this.#options.choice
    const validUntilMs = Math.min(createdMs + rotateAfterDays * dayMs, readers.nextEndMs(clock.now()))
    const epoch = { id: epochIdOf(commitment), commitment, createdMs, keyringId, key, publisherKey }
    return { ...epoch, readersAtMs, changes: this.#changes, validUntilMs, isOwn }
  }

  async #ownKeyring(signal: AbortSignal): Promise<Keyring> {
    if (this.#keyring !== undefined) return this.#keyring
    const { keyringMaster, random, ciphers } = this.#modules
    const master = await keyringMaster(signal)
    this.#isKeyringShared = master !== undefined
    return (this.#keyring ??= new Keyring({ master: master ?? random.bytes(keyBytes) }, { ciphers }))
  }

  #recipients(users: readonly NodeId[], cards: ReadonlyMap<NodeId, Card>): readonly Recipient[] {
    return users.flatMap((user) => {
      const card = cards.get(user)
      return card === undefined ? [] : [this.#recipient(card)]
    })
  }

  #recipient(card: Card): Recipient {
    return {
      userId: card.userId,
      publicKey: card.publicKey,
      cardHash: cardHash(card, this.#modules.crypto),
    }
  }

  async #link(recipients: readonly Recipient[], { key, ...epoch }: CurrentEpoch): Promise<void> {
    if (this.#keyring !== undefined && key !== undefined)
      await this.#links.link(recipients, this.#keyring, { ...epoch, key })
  }

  #roleOf(userId: NodeId): 'reader' | 'publisher' | undefined {
    const { readers, clock } = this.#modules
    if (readers.reads(userId, clock.now())) return 'reader'
    return this.#options.choice.keyHolder === this.#options.userId ? 'publisher' : undefined
  }

  #inBackground(run: () => Promise<void>): void {
    run().catch((error: unknown) => this.#modules.onProblem(error))
  }
}
