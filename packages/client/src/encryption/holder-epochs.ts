import {
  epochIdOf,
  publisherKeyOf,
  type Ciphers,
  type Clock,
  type EpochId,
  type EpochRecord,
  type NodeId,
} from '@runnel/protocol'
import type { EpochReaders } from './epoch-readers.ts'
import type { EpochTerms } from './epoch-terms.ts'
import type { KeyFinder } from './key-finder.ts'
import type { KeyPart } from './key-part.ts'
import { newestEpochOf } from './newest-epoch.ts'
import type { ReaderSet } from './reader-set.ts'
import { usableEpoch, type UsableEpoch } from './sealing-epoch.ts'

export interface HolderEpochsModules {
  readonly ciphers: Ciphers
  readonly clock: Clock
  readonly readers: Pick<ReaderSet, 'readersAt' | 'holds'>
  readonly epochReaders: EpochReaders
  readonly terms: EpochTerms
  readonly keyPart: Pick<KeyPart, 'find'>
  readonly finder: Pick<KeyFinder, 'open' | 'writerKey'>
  /** Asks the key holder, in whose epoch this user has no key yet. Resolves when it answers, or after a moment. */
  readonly askHolder: (id: EpochId) => Promise<void>
}

/** Epochs that the key holder of a stream opens for its other publishers. */
export class HolderEpochs {
  readonly #userId: NodeId
  readonly #modules: HolderEpochsModules
  /** The newest epoch that the holder told of while this ran. */
  #told: EpochRecord | undefined

  constructor(userId: NodeId, modules: HolderEpochsModules) {
    this.#userId = userId
    this.#modules = modules
  }

  /** The holder told of an epoch. False when this is no newer one. */
  tell(record: EpochRecord): boolean {
    if (record.createdMs <= (this.#told?.createdMs ?? 0)) return false
    this.#told = record
    return true
  }

  /** The holder's newest epoch, while it is for nobody who may not read, and this user has a key in it. */
  async newest(holderId: NodeId, signal: AbortSignal): Promise<UsableEpoch | undefined> {
    const { keyPart, readers, epochReaders, terms, clock, askHolder } = this.#modules
    // Who goes while the records are looked up makes what comes out invalid again.
    const nowMs = clock.now()
    const changes = terms.changes(nowMs)
    const readerIds = readers.readersAt(nowMs)
    if (!readers.holds(holderId, nowMs)) return undefined
    const found = await newestEpochOf(holderId, keyPart, signal)
    const record = (this.#told?.createdMs ?? 0) > (found?.createdMs ?? 0) ? this.#told : found
    if (record === undefined || terms.endMs(record) <= nowMs || !terms.regardsLosses(record, nowMs))
      return undefined
    if (!(await epochReaders.areAllOf(holderId, record, readerIds, signal))) return undefined
    let keys = await this.#keysIn(holderId, record, signal)
    if (keys === undefined) {
      await askHolder(epochIdOf(record.commitment))
      keys = await this.#keysIn(holderId, record, signal)
    }
    const validUntilMs = terms.endMs(record)
    return keys && usableEpoch(record, { ...keys, changes, validUntilMs, isOwn: false })
  }

  /** With what this user publishes in an epoch of the holder. */
  async #keysIn(
    holderId: NodeId,
    record: EpochRecord,
    signal: AbortSignal,
  ): Promise<Pick<UsableEpoch, 'key' | 'publisherKey'> | undefined> {
    const { finder, ciphers } = this.#modules
    const key = (await finder.open(holderId, record, signal))?.key
    const publisherKey =
      key === undefined
        ? await finder.writerKey(holderId, record, signal)
        : publisherKeyOf(ciphers, key, this.#userId)
    return publisherKey && { key, publisherKey }
  }
}
