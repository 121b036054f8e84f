import {
  cohortChain,
  epochChain,
  isSameBytes,
  limits,
  linkChain,
  newestChain,
  publisherKeyOf,
  publishersChain,
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
import { Background } from './background.ts'
import type { CardHolder } from './card-holder.ts'
import { cohortsIn, coverOf } from './epoch-cover.ts'
import { planEpoch, type Cohort, type EpochKey } from './epoch-plan.ts'
import { EpochReaders, type EpochReadersModules } from './epoch-readers.ts'
import { EpochTerms } from './epoch-terms.ts'
import { HolderEpochs, type HolderEpochsModules } from './holder-epochs.ts'
import type { KeyPart } from './key-part.ts'
import type { Keyring } from './keyring.ts'
import type { KnownKeys } from './known-keys.ts'
import { newestEpochOf } from './newest-epoch.ts'
import { OwnKeyring, type OwnKeyringModules } from './own-keyring.ts'
import { ReaderLinks } from './reader-links.ts'
import type { ReaderSet } from './reader-set.ts'
import { retryPauseMs } from './retry-pause.ts'
import { usableEpoch, type SealingEpoch, type UsableEpoch } from './sealing-epoch.ts'

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
  readonly finder: HolderEpochsModules['finder']
  readonly askHolder: HolderEpochsModules['askHolder']
  readonly keyringMaster: OwnKeyringModules['keyringMaster']
  readonly cardsOf: EpochReadersModules['cardsOf']
  /** A record was published; for whoever waits until it is stored. */
  readonly onPublished: (place: MessagePlace) => void
  /** Resolves when what was published is stored; false when that cannot be waited for. */
  readonly confirmed: () => Promise<boolean>
  readonly onRotated: (id: EpochId, readers: number) => void
  /** Readers could not be told of their keys; they ask for them when they come. */
  readonly onProblem: (error: unknown) => void
  /** Aborted when nothing is published any more. */
  readonly signal: AbortSignal
}

/** A new epoch, and for how many readers with a card. */
export interface RotatedEpoch {
  readonly id: EpochId
  readonly readers: number
}

/** Opens epochs of a stream: makes their keys, tells the readers, and makes new ones when readers go. */
export class Opener {
  readonly #options: OpenerOptions
  readonly #modules: OpenerModules
  readonly #terms: EpochTerms
  readonly #readers: EpochReaders
  readonly #ofHolder: HolderEpochs
  readonly #keyring: OwnKeyring
  readonly #background: Background
  #links: ReaderLinks
  /** The epoch from before this process was taken over, or there is none. */
  #hasLooked = false
  /** Nothing was lacking when the last epoch was made here, besides the one from before. */
  #isWhole = false
  /** Times in a row that something could not be had for an epoch. */
  #lacks = 0
  /** From then on (Unix milliseconds) the present epoch is replaced; it is used until there is another. */
  #replaceFromMs = Infinity
  #current: UsableEpoch | undefined
  /** Of the last epoch that was made here. */
  #readerCount = 0
  #renewing: Promise<UsableEpoch> | undefined
  #cohorts: readonly (Cohort | undefined)[] = []
  /** This opener's epochs that new readers may read, the newest first. */
  #earlier: readonly EpochKey[] = []

  constructor(options: OpenerOptions, modules: OpenerModules) {
    this.#options = options
    this.#modules = modules
    this.#terms = new EpochTerms(options.choice, modules)
    this.#readers = new EpochReaders(options, modules)
    const parts = { epochReaders: this.#readers, terms: this.#terms }
    this.#ofHolder = new HolderEpochs(options.userId, { ...modules, ...parts })
    this.#keyring = new OwnKeyring({ ...modules, onNew: () => this.#beginAnew() })
    this.#background = new Background(modules)
    this.#links = this.#newLinks()
  }

  get keyring(): Keyring | undefined {
    return this.#keyring.current
  }

  /** It has an epoch that is, or was, in use. */
  get isOpen(): boolean {
    return this.#current?.isOwn === true
  }

  /** The epoch to seal in, if it needs no thought: everybody who can read it may. */
  get current(): SealingEpoch | undefined {
    const epoch = this.#freshEpoch
    if (epoch !== undefined && this.#modules.clock.now() >= this.#replaceFromMs) this.#replace()
    return epoch
  }

  get #freshEpoch(): UsableEpoch | undefined {
    return this.#modules.readers.isCurrent ? this.#valid : undefined
  }

  /** What was used last, valid or not. */
  get last(): SealingEpoch | undefined {
    return this.#current
  }

  /** The epoch to seal in; makes one if need be. Throws what the registry throws when it cannot say who may read. */
  async epoch(signal: AbortSignal): Promise<SealingEpoch> {
    for (;;) {
      await this.#modules.readers.refresh()
      const epoch = this.#valid ?? (await this.#once(() => this.#renew(signal)))
      if (this.current === epoch) return epoch
    }
  }

  /** The epoch to seal in, by what is known of the readers, where more cannot be learnt: some of it ends by time. */
  async epochAsKnown(signal: AbortSignal): Promise<SealingEpoch> {
    for (;;) {
      const epoch = this.#valid ?? (await this.#once(() => this.#renew(signal)))
      if (this.#valid === epoch) return epoch
    }
  }

  /** How long the present epoch can be used, if nothing changes; 0 when it cannot be. */
  get validForMs(): number {
    return Math.max(0, (this.#valid?.validUntilMs ?? 0) - this.#modules.clock.now())
  }

  /** Makes a new epoch, whether or not one is needed. Throws what the registry throws when it cannot say who may read. */
  async rotate(signal: AbortSignal): Promise<RotatedEpoch> {
    await this.#modules.readers.refresh()
    await this.#renewing?.catch(() => {})
    const { id } = await this.#once(() => this.#open(signal))
    return { id, readers: this.#readerCount }
  }

  /** The key holder has another epoch. Its record, where that was told: the one that says which is the newest may come later. */
  follow(record?: EpochRecord): void {
    if (record === undefined || this.#ofHolder.tell(record)) this.#terms.follow()
  }

  /** Whoever looks for this user's newest epoch finds the present one, or there is none. */
  get isAnnounced(): boolean {
    return !this.isOpen || this.#hasLooked
  }

  /**
   * An epoch that was made before storage nodes said which was the last is announced when they do: as it is where there was none and nothing
   * is lacking, otherwise by one that leads to both.
   */
  async announce(signal: AbortSignal): Promise<void> {
    const current = this.#current
    if (current === undefined || this.isAnnounced) return
    const { record, hasLooked } = await this.#recordBefore(current, signal)
    if (!hasLooked || this.isAnnounced) return
    const isFirst = record === undefined && this.#current === current && this.#renewing === undefined
    // One that was made without the cards of its readers is no use to them.
    if (isFirst && this.#isWhole) this.#announced(current)
    else await this.#once(() => this.#open(signal))
  }

  /**
   * Another process of this user told of an epoch: it is used here too, if it is newer and for nobody but readers. Of two that are made at
   * once, both take the same. Who was given its key since may still read, as this process has seen nobody go. Without history each process
   * keeps its own, which it goes on giving to those who ask: one epoch does not lead to another.
   */
  async join(signal: AbortSignal): Promise<void> {
    const { keyPart, readers, clock, finder, ciphers } = this.#modules
    const { userId, choice } = this.#options
    const current = choice.history === 'none' ? undefined : this.#freshEpoch
    if (current?.isOwn !== true || current.key === undefined || this.keyring === undefined) return
    const nowMs = clock.now()
    const changes = this.#terms.changes(nowMs)
    const record = await newestEpochOf(userId, keyPart, signal)
    if (record === undefined || !isSameBytes(record.keyringId, this.keyring.id)) return
    if (record.createdMs <= current.createdMs) return
    if (!this.#terms.regardsLosses(record, nowMs)) return
    if (!(await this.#readers.areAllOf(userId, record, readers.readersAt(nowMs), signal))) return
    const key = (await finder.open(userId, record, signal))?.key
    if (key === undefined || this.#current !== current || this.#renewing !== undefined) return
    this.#leaves({ ...current, key: current.key })
    const publisherKey = publisherKeyOf(ciphers, key, userId)
    this.#current = this.#accepted(record, { key, publisherKey, changes, isOwn: true })
  }

  get #valid(): UsableEpoch | undefined {
    const current = this.#current
    const nowMs = this.#modules.clock.now()
    return current?.changes === this.#terms.changes(nowMs) && nowMs < current.validUntilMs
      ? current
      : undefined
  }

  #once(make: () => Promise<UsableEpoch>): Promise<UsableEpoch> {
    this.#renewing ??= make().finally(() => (this.#renewing = undefined))
    return this.#renewing
  }

  /** Links readers that have no link yet, so that they can read when nobody is there. Resolves when their links are published. */
  async link(users: readonly NodeId[], signal: AbortSignal): Promise<void> {
    if (this.#shared === undefined) return
    const recipients = this.#readers.recipients(users, await this.#modules.cardsOf(users, signal))
    const shared = this.#shared
    if (shared !== undefined) await this.#links.link(recipients, shared.keyring, shared.epoch)
  }

  /** Links one reader by a card that it sent itself. */
  async linkTo(card: Card, signal: AbortSignal): Promise<void> {
    if (this.#shared === undefined) return
    const { ciphers, keyPart } = this.#modules
    // Another process of this user may have made the link that is there: the new one has to come after it.
    const chain = linkChain(ciphers, this.#shared.keyring.id, card.userId)
    await keyPart.find(this.#options.userId, chain, signal)
    const shared = this.#shared
    if (shared !== undefined)
      await this.#links.linkAgain(this.#readers.recipient(card), shared.keyring, shared.epoch)
  }

  /** What a new reader may be given: without history it gets no key that was used before it came. */
  get #shared(): { readonly keyring: Keyring; readonly epoch: EpochKey } | undefined {
    const epoch = this.#options.choice.history === 'none' ? this.#freshEpoch : this.#current
    const { keyring } = this
    if (keyring === undefined || epoch?.isOwn !== true || epoch.key === undefined) return undefined
    return { keyring, epoch: { ...epoch, key: epoch.key } }
  }

  /** Prepares to open its own epochs. */
  async loadKeyring(signal: AbortSignal): Promise<void> {
    if (this.keyring === undefined) await this.#keyring.load(signal)
  }

  /** Resolves when all links that were begun are published. */
  async settled(): Promise<void> {
    await this.#background.settled()
    await this.#links.settled()
  }

  async #renew(signal: AbortSignal): Promise<UsableEpoch> {
    const { choice, userId } = this.#options
    if (choice.keyHolder !== undefined && choice.keyHolder !== userId) {
      const held = (await this.#keyring.canBeHad(signal))
        ? await this.#ofHolder.newest(choice.keyHolder, signal)
        : undefined
      if (held !== undefined) {
        this.#replaceFromMs = Infinity
        return (this.#current = held)
      }
    }
    return this.#open(signal)
  }

  /** In the background: what is published meanwhile does not wait for storage nodes that may not answer. */
  #replace(): void {
    if (this.#renewing !== undefined) return
    // Also where it fails: not with each message.
    this.#replaceLater()
    this.#background.run(async () => void (await this.#once(() => this.#renew(this.#modules.signal))))
  }

  #replaceLater(): void {
    this.#replaceFromMs = this.#modules.clock.now() + retryPauseMs(++this.#lacks)
  }

  /**
   * Goes on from the last epoch of this user, made by this or another process: readers keep their links and cohorts, and the new epoch leads
   * to it. It is not used again: nobody knows who was given its key since, and may not read any more.
   */
  async #takeOver(
    record: EpochRecord,
    keyring: Keyring,
    holders: readonly CardHolder[],
    signal: AbortSignal,
  ): Promise<void> {
    const { keyPart, finder, ciphers } = this.#modules
    const { userId } = this.#options
    // After the reading key was renewed the keyring is another one, and what was before stays readable.
    const isOfKeyring = isSameBytes(record.keyringId, keyring.id)
    if (!isOfKeyring && !this.#keyring.isShared) return
    const opened = await finder.open(userId, record, signal)
    // Those that this process made before it found this one stay, with room for one more.
    const made = this.#hasLooked ? [] : this.#earlier.slice(0, limits.maxEarlierEpochs - 2)
    if (opened !== undefined) this.#earlier = [...made, opened]
    if (!isOfKeyring) return
    const cover = await coverOf(userId, record, keyPart, signal)
    if (cover === undefined) return
    this.#links.add(cover.tags)
    this.#cohorts = cohortsIn(record, cover, holders, { keyring, ciphers })
  }

  async #open(signal: AbortSignal): Promise<UsableEpoch> {
    const { ciphers, random, readers, keyPart, onPublished, onRotated } = this.#modules
    const { choice, userId } = this.#options
    const keyring = await this.#keyring.load(signal)
    const before = this.#current?.isOwn === true ? this.#current : undefined
    const { record, hasLooked } = await this.#recordBefore(before, signal)
    const createdMs = this.#terms.dateAfter(Math.max(before?.createdMs ?? 0, record?.createdMs ?? 0))
    const changes = this.#terms.changes(createdMs)
    // The user itself has its keyring, unless that is this process's alone.
    const readerIds = readers.readersAt(createdMs).filter((id) => !this.#keyring.isShared || id !== userId)
    const writerIds = choice.keyHolder === userId ? readers.writersAt(createdMs) : []
    const found = await this.#readers.cards([...readerIds, ...writerIds], signal)
    const cards = found ?? new Map<NodeId, Card>()
    const recipients = this.#readers.recipients(readerIds, cards)
    const publishers = this.#readers.recipients(writerIds, cards)
    if (record !== undefined) await this.#takeOver(record, keyring, recipients, signal)
    this.#hasLooked = hasLooked
    if (before?.key !== undefined) this.#leaves({ ...before, key: before.key })
    const planned = planEpoch(
      {
        readers: recipients,
        publishers,
        earlier: choice.history === 'none' ? [] : this.#earlier,
        cohorts: this.#cohorts,
        createdMs,
        readersAtBlock: readers.block,
      },
      { keyring, ciphers, random },
    )
    this.#cohorts = planned.cohorts
    this.#modules.known.add(planned.key, createdMs)
    const say = (chainId: string, record: Parameters<typeof keyPart.publish>[1]) =>
      onPublished(keyPart.publish(chainId, record))
    for (const { cohortId, record } of planned.newCohorts) say(cohortChain(cohortId), record)
    for (const [i, record] of planned.publisherRecords.entries())
      say(publishersChain(planned.commitment, i), record)
    say(epochChain(planned.id), planned.record)
    const { key } = planned
    const publisherKey = publisherKeyOf(ciphers, key, userId)
    const current = this.#accepted(planned.record, { key, publisherKey, changes, isOwn: true })
    this.#current = current
    this.#isWhole = found !== undefined && !this.#keyring.isMakeshift
    // Before that, it would take the place of the one that is to be found.
    if (hasLooked) this.#announced(current)
    if (!(hasLooked && this.#isWhole) && this.#replaceFromMs === Infinity) this.#replaceLater()
    this.#background.run(async () => {
      await this.#links.link([...recipients, ...publishers], keyring, planned, { isCovered: true })
      await this.#modules.confirmed()
    })
    this.#readerCount = recipients.length
    onRotated(planned.id, recipients.length)
    return current
  }

  #announced({ keyringId, commitment }: UsableEpoch): void {
    const { keyPart, onPublished } = this.#modules
    this.#hasLooked = true
    onPublished(keyPart.publish(newestChain, { kind: 'newest', keyringId, commitment }))
    if (this.#isWhole) [this.#lacks, this.#replaceFromMs] = [0, Infinity]
  }

  /** The epoch to go on from that this process did not make. It is looked for until storage nodes answer, and this user's keyring opens it. */
  async #recordBefore(
    before: UsableEpoch | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly record: EpochRecord | undefined; readonly hasLooked: boolean }> {
    if (before !== undefined && this.#hasLooked) return { record: undefined, hasLooked: true }
    const silent: true[] = []
    const { userId } = this.#options
    const record = await newestEpochOf(userId, this.#modules.keyPart, signal, () => silent.push(true))
    return { record, hasLooked: record === undefined ? silent.length === 0 : !this.#keyring.isMakeshift }
  }

  #accepted(
    record: EpochRecord,
    own: Pick<UsableEpoch, 'key' | 'publisherKey' | 'changes' | 'isOwn'>,
  ): UsableEpoch {
    return usableEpoch(record, { ...own, validUntilMs: this.#terms.endMs(record) })
  }

  /** Links and cohorts from before are of another keyring. */
  #beginAnew(): void {
    this.#links = this.#newLinks()
    this.#cohorts = []
  }

  #newLinks(): ReaderLinks {
    const roleOf = (userId: NodeId, epoch: EpochKey) => this.#readers.roleOf(userId, epoch)
    return new ReaderLinks(this.#options, { ...this.#modules, roleOf })
  }

  /** The next epoch leads to this one. */
  #leaves(epoch: EpochKey): void {
    this.#earlier = [epoch, ...this.#earlier].slice(0, limits.maxEarlierEpochs)
  }
}
