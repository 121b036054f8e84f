import {
  answerChain,
  cohortChain,
  cohortIdOf,
  commitmentOf,
  epochChain,
  epochIdOf,
  groupOf,
  isSameBytes,
  linkChain,
  newestChain,
  publishersChain,
  publisherTag,
  readerHint,
  toHex,
  untilAborted,
  wrapKey,
  type AnswerRecord,
  type Ciphers,
  type Clock,
  type EncryptionChoice,
  type EpochId,
  type EpochRecord,
  type LinkRecord,
  type LinkSecret,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { deadline, throwIfAborted } from '../deadline.ts'
import type { EpochKey } from './epoch-plan.ts'
import type { KeyPart } from './key-part.ts'
import { Keyring, keyringMaster } from './keyring.ts'
import type { KnownKeys } from './known-keys.ts'
import { newestEpochOf } from './newest-epoch.ts'
import type { CardKey } from './own-card.ts'
import type { ReaderSet } from './reader-set.ts'
import { openAnswer, openLink } from './sealed-records.ts'

export interface KeyFinderModules {
  readonly userId: NodeId
  readonly streamId: StreamId
  readonly choice: EncryptionChoice
  readonly ciphers: Ciphers
  readonly clock: Clock
  readonly keyPart: Pick<KeyPart, 'find' | 'newest'>
  readonly known: KnownKeys
  readonly readers: Pick<ReaderSet, 'refresh' | 'granters'>
  /** The keys of this user's cards. Throws NO_READING_KEY where there is none. */
  readonly cardKeys: (signal: AbortSignal) => Promise<readonly CardKey[]>
  /** This user's own keyring, if this process has it. */
  readonly keyring: () => Keyring | undefined
  /** Users whose answers are looked for, and whose epochs publishers may use. */
  readonly openersFor: (publisherId: NodeId) => readonly NodeId[]
}

/** The key with which a publisher sealed in an epoch. */
export interface WantedKey {
  readonly publisherId: NodeId
  readonly id: EpochId
  /** Keys of that publisher and that id that are known, and are not the one: ids are short, and anybody may find a second key for one. */
  readonly tried?: readonly Uint8Array[]
}

/** An opener has another epoch. */
export interface Replaced {
  /** Unix milliseconds. */
  readonly sinceMs: number
  /** This user has its key: whoever opened it has answered. */
  readonly isOpen: boolean
}

/** A link that opened, and the tag of the card that it was sealed to. */
interface OpenedLink extends LinkSecret {
  readonly tag: Uint8Array
}

/** Past epochs walked through to find one key. */
const maxStepsBack = 200
/** Users who may grant of whom answers are sought. */
const maxGranters = 16
/** How long the registry is waited for to say who may grant. */
const maxRefreshMs = 5_000
/** Records searched for an answer from somebody unexpected. */
const maxNewest = 200
/** Links that are kept open. */
const maxLinks = 2_000

/** Finds the keys that are in a stream's key part for this user. */
export class KeyFinder {
  readonly #modules: KeyFinderModules
  /** By opener and keyring. */
  readonly #links = new LRU<OpenedLink>(maxLinks)

  constructor(modules: KeyFinderModules) {
    this.#modules = modules
  }

  /** Looks for a key; true when one is known now. Throws NO_READING_KEY, READING_KEY_CHANGED, ABORTED, or what the registry throws. */
  async look(wanted: WantedKey, signal: AbortSignal): Promise<boolean> {
    return (
      (await this.lookAgain(wanted, signal)) ||
      (await this.#fromGranters(wanted, signal)) ||
      this.#fromStrangers(wanted, signal)
    )
  }

  /** As `look`, without what anybody may have answered before: that takes long. */
  async lookAgain(wanted: WantedKey, signal: AbortSignal): Promise<boolean> {
    if (this.#has(wanted)) return true
    const openers = this.#modules.openersFor(wanted.publisherId)
    for (const openerId of openers) if (await this.#fromEpoch(openerId, wanted, signal)) return true
    for (const userId of openers) if (await this.#fromAnswer(userId, wanted, signal)) return true
    for (const openerId of openers) if (await this.#goBack(openerId, wanted, signal)) return true
    return false
  }

  /**
   * Since when its opener has another epoch, on a stream without history: what was sealed in this one before is unlikely to be
   * opened, as an opener gives only what it uses. Another process of the same user may still use it. Undefined where there is no later one.
   */
  async replaced({ publisherId, id }: WantedKey, signal: AbortSignal): Promise<Replaced | undefined> {
    const { choice, openersFor, keyPart, known } = this.#modules
    if (choice.history !== 'none') return undefined
    for (const openerId of openersFor(publisherId)) {
      const wanted = await this.#record(openerId, id, signal)
      if (wanted === undefined) continue
      const later = await newestEpochOf(openerId, keyPart, signal)
      if (later === undefined || later.createdMs <= wanted.createdMs) return undefined
      return { sinceMs: later.createdMs, isOpen: known.epochs(epochIdOf(later.commitment)).length > 0 }
    }
    return undefined
  }

  #has({ publisherId, id, tried = [] }: WantedKey): boolean {
    const keys = this.#modules.known.publisherKeys(id, publisherId)
    return keys.some((key) => !tried.some((one) => isSameBytes(one, key)))
  }

  /** The key of an epoch, where this user has one: its own, or by its link to the opener. */
  async open(openerId: NodeId, record: EpochRecord, signal: AbortSignal): Promise<EpochKey | undefined> {
    const { userId, ciphers, known } = this.#modules
    const { commitment, keyringId, createdMs } = record
    const [before] = known
      .epochs(epochIdOf(commitment))
      .filter((one) => isSameBytes(one.commitment, commitment))
    if (before !== undefined) return before
    const own = openerId === userId ? await this.#ownKeyring(keyringId, signal) : undefined
    if (own !== undefined) {
      const key = own.own(commitment, record.own)
      if (isSameBytes(commitmentOf(ciphers, key), commitment)) return known.add(key, createdMs)
    }
    const link = await this.#link(openerId, keyringId, signal)
    if (link?.isForReader !== true) return undefined
    if (link.key !== undefined && isSameBytes(commitmentOf(ciphers, link.key), commitment))
      return known.add(link.key, createdMs)
    const key = await this.#unwrapped(openerId, record, link, signal)
    return key === undefined ? undefined : known.add(key, createdMs)
  }

  /** This user's own key in an epoch of a holder, where it may, or might then, publish and not read. It is known afterwards. */
  async writerKey(
    holderId: NodeId,
    record: EpochRecord,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const { known, userId } = this.#modules
    const key = await this.#writerKey(holderId, record, signal)
    if (key !== undefined) known.addPublisherKey(epochIdOf(record.commitment), userId, key)
    return key
  }

  async #writerKey(
    holderId: NodeId,
    { keyringId, commitment, publisherRecords }: EpochRecord,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const { userId, ciphers, keyPart } = this.#modules
    const link = await this.#link(holderId, keyringId, signal)
    if (link === undefined) return undefined
    if (!link.isForReader && link.key !== undefined && epochIdOf(link.epochId) === epochIdOf(commitment))
      return link.key
    if (publisherRecords === 0) return undefined
    const chain = publishersChain(commitment, groupOf(ciphers, userId, publisherRecords))
    const record = await keyPart.find(holderId, chain, signal)
    if (record?.kind !== 'publishers') return undefined
    return record.publishers
      .map(({ tag, wrapped }) => ({
        tag,
        key: wrapKey(ciphers, link.secret, 'wrapped publisher', commitment, wrapped),
      }))
      .find(({ tag, key }) => isSameBytes(publisherTag(ciphers, userId, key), tag))?.key
  }

  /** A record that floods may hold a newer link, or a link that was not there before. */
  forgetLinks(openerId: NodeId): void {
    for (const name of this.#links.keys() as string[]) if (name.startsWith(openerId)) this.#links.delete(name)
  }

  async #record(openerId: NodeId, id: EpochId, signal: AbortSignal): Promise<EpochRecord | undefined> {
    const record = await this.#modules.keyPart.find(openerId, epochChain(id), signal)
    return record?.kind === 'epoch' && epochIdOf(record.commitment) === id ? record : undefined
  }

  async #fromEpoch(openerId: NodeId, wanted: WantedKey, signal: AbortSignal): Promise<boolean> {
    const record = await this.#record(openerId, wanted.id, signal)
    if (record === undefined) return false
    const opened = await this.open(openerId, record, signal)
    if (opened === undefined && wanted.publisherId === this.#modules.userId)
      await this.writerKey(openerId, record, signal)
    return this.#has(wanted)
  }

  async #fromAnswer(userId: NodeId, wanted: WantedKey, signal: AbortSignal): Promise<boolean> {
    const { ciphers, keyPart } = this.#modules
    const record = await keyPart.find(userId, answerChain(ciphers, this.#modules.userId), signal)
    if (record?.kind !== 'answer') return false
    await this.takeAnswer(record, signal)
    return this.#has(wanted)
  }

  /** Whoever gave this user the permission may have passed keys on. */
  async #fromGranters(wanted: WantedKey, signal: AbortSignal): Promise<boolean> {
    const { clock, readers, openersFor } = this.#modules
    // Where the registry does not answer, there is what is known.
    const limited = deadline(clock, maxRefreshMs, signal)
    await untilAborted(readers.refresh(), limited.signal).catch(() => {})
    limited.end()
    throwIfAborted(signal)
    const asked = openersFor(wanted.publisherId)
    const granters = readers.granters.filter((id) => !asked.includes(id)).slice(0, maxGranters)
    const found = await Promise.all(granters.map((userId) => this.#fromAnswer(userId, wanted, signal)))
    return found.includes(true)
  }

  /** The keys of an answer are known afterwards, whoever gave it. */
  async takeAnswer(record: AnswerRecord, signal: AbortSignal): Promise<void> {
    const { streamId, known, cardKeys } = this.#modules
    for (const key of await openAnswer(streamId, record, await cardKeys(signal))) known.add(key)
  }

  /** From epochs that can be opened to those before them. */
  async #goBack(openerId: NodeId, wanted: WantedKey, signal: AbortSignal): Promise<boolean> {
    const { ciphers, known } = this.#modules
    const starts = await this.#starts(openerId, wanted.id, signal)
    const tried = new Set<string>()
    for (let step = 0; step < maxStepsBack; step++) {
      const next = starts.shift()
      if (next === undefined) return false
      if (tried.has(next.id)) continue
      tried.add(next.id)
      const record = await this.#record(openerId, next.id, signal)
      if (record === undefined) continue
      const earlier = record.earlier.flatMap((one) => {
        const key = wrapKey(ciphers, next.key, 'earlier epoch', one.id, one.wrapped)
        const isIt = isSameBytes(commitmentOf(ciphers, key).subarray(0, one.id.length), one.id)
        return isIt ? [known.add(key, record.createdMs)] : []
      })
      if (this.#has(wanted)) return true
      // The oldest leads furthest back.
      starts.unshift(...earlier.reverse())
    }
    return false
  }

  /** Epochs of the opener that this user can open: the newest, those of its links, and those of answers. */
  async #starts(openerId: NodeId, id: EpochId, signal: AbortSignal): Promise<EpochKey[]> {
    const { keyPart, known } = this.#modules
    const starts: EpochKey[] = []
    const newest = await keyPart.find(openerId, newestChain, signal)
    if (newest?.kind === 'newest') {
      const newestId = epochIdOf(newest.commitment)
      const record = await this.#record(openerId, newestId, signal)
      const opened = record === undefined ? undefined : await this.open(openerId, record, signal)
      starts.push(...(opened === undefined ? known.epochs(newestId) : [opened]))
      starts.push(...(await this.#beginning(openerId, newest.keyringId, signal)))
    }
    const wanted = await this.#record(openerId, id, signal)
    if (wanted !== undefined) starts.push(...(await this.#beginning(openerId, wanted.keyringId, signal)))
    return starts
  }

  /** The epoch in use when a link to this user was made, by the link or that epoch's record. */
  async #beginning(openerId: NodeId, keyringId: Uint8Array, signal: AbortSignal): Promise<EpochKey[]> {
    const link = await this.#link(openerId, keyringId, signal)
    if (link?.isForReader !== true) return []
    if (link.key !== undefined) return [this.#modules.known.add(link.key)]
    const record = await this.#record(openerId, epochIdOf(link.epochId), signal)
    const opened = record === undefined ? undefined : await this.open(openerId, record, signal)
    return opened === undefined ? [] : [opened]
  }

  /** Somebody who is neither the publisher nor the holder of the keys may have answered, or an opener's link be all that is left of it. */
  async #fromStrangers(wanted: WantedKey, signal: AbortSignal): Promise<boolean> {
    const { userId, keyPart, ciphers } = this.#modules
    const hint = readerHint(ciphers, userId)
    for (const { publisherId, messageChainId, record } of await keyPart.newest(maxNewest, signal)) {
      if (record.kind === 'answer' && record.readerId === userId) await this.takeAnswer(record, signal)
      else if (record.kind === 'link' && isSameBytes(record.hint, hint))
        await this.#openedLink(publisherId, messageChainId, record, signal)
      else continue
      if (this.#has(wanted)) return true
    }
    return false
  }

  async #link(openerId: NodeId, keyringId: Uint8Array, signal: AbortSignal): Promise<OpenedLink | undefined> {
    const { userId, ciphers, keyPart } = this.#modules
    const name = `${openerId} ${toHex(keyringId)}`
    const known = this.#links.get(name)
    if (known !== undefined) return known
    const chain = linkChain(ciphers, keyringId, userId)
    const record = await keyPart.find(openerId, chain, signal)
    if (record?.kind !== 'link') return undefined
    const opened = await this.#openedLink(openerId, chain, record, signal)
    if (opened !== undefined) this.#links.set(name, opened)
    return opened
  }

  /** The key with which a link begins is known afterwards. */
  async #openedLink(
    openerId: NodeId,
    chain: string,
    record: LinkRecord,
    signal: AbortSignal,
  ): Promise<OpenedLink | undefined> {
    const { streamId, userId, ciphers, known, cardKeys } = this.#modules
    const place = { streamId, openerId, readerId: userId, chain }
    const secret = await openLink(place, record, await cardKeys(signal))
    if (secret === undefined) return undefined
    const { key, epochId, isForReader } = secret
    if (key !== undefined && isForReader) {
      if (epochIdOf(commitmentOf(ciphers, key)) !== epochIdOf(epochId)) return undefined
      known.add(key)
    } else if (key !== undefined) known.addPublisherKey(epochIdOf(epochId), userId, key)
    return { ...secret, tag: record.tag }
  }

  /** The keyring of this user with that id: of this process, or of any that has the user's reading key, as it is or was. */
  async #ownKeyring(id: Uint8Array, signal: AbortSignal): Promise<Keyring | undefined> {
    const { ciphers, streamId, keyring, cardKeys } = this.#modules
    const present = keyring()
    if (present !== undefined && isSameBytes(present.id, id)) return present
    return (await cardKeys(signal))
      .map(({ readingKey }) => keyringMaster(ciphers, readingKey, streamId))
      .map((master) => new Keyring({ master }, { ciphers }))
      .find((one) => isSameBytes(one.id, id))
  }

  async #unwrapped(
    openerId: NodeId,
    { commitment, readers, cohorts }: EpochRecord,
    { secret, tag }: OpenedLink,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const { userId, ciphers, keyPart } = this.#modules
    const fits = (key: Uint8Array) => isSameBytes(commitmentOf(ciphers, key), commitment)
    for (const one of readers) {
      if (!isSameBytes(one.tag, tag)) continue
      const key = wrapKey(ciphers, secret, 'wrapped epoch', commitment, one.wrapped)
      if (fits(key)) return key
    }
    const entry = cohorts[groupOf(ciphers, userId, cohorts.length)]
    if (entry === undefined) return undefined
    const cohort = await keyPart.find(openerId, cohortChain(entry.cohortId), signal)
    if (cohort?.kind !== 'cohort') return undefined
    for (const one of cohort.readers) {
      if (!isSameBytes(one.tag, tag)) continue
      const cohortKey = wrapKey(ciphers, secret, 'wrapped cohort', entry.cohortId, one.wrapped)
      if (!isSameBytes(cohortIdOf(ciphers, cohortKey), entry.cohortId)) continue
      const key = wrapKey(ciphers, cohortKey, 'wrapped epoch', commitment, entry.wrapped)
      if (fits(key)) return key
    }
    return undefined
  }
}
