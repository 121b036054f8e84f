import {
  commitmentOf,
  epochIdOf,
  isSameBytes,
  publisherKeyOf,
  type Ciphers,
  type EpochId,
  type NodeId,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { EpochKey } from './epoch-plan.ts'

/** Epochs whose keys are remembered for a stream: years of one publisher's, or a day of thousands of publishers'. */
const maxEpochs = 5_000
/** Epochs with the same id, and publishers' keys given on their own for one id. */
const maxKeysOfId = 4

interface Entry {
  /** Of two epochs with the same id both. */
  readonly epochs: readonly EpochKey[]
  /** Keys of publishers whose epochs are not known. */
  readonly given: readonly GivenKey[]
  /** Of publishers, those that were used. */
  readonly publisherKeys: Map<NodeId, readonly Uint8Array[]>
}

interface GivenKey {
  readonly publisherId: NodeId
  readonly key: Uint8Array
}

const none: readonly never[] = []

/** The keys of a stream that this process knows. */
export class KnownKeys {
  /** Called when a key is new here. */
  onKey: () => void = () => {}
  readonly #ciphers: Ciphers
  readonly #entries = new LRU<Entry>(maxEpochs)

  constructor(modules: { readonly ciphers: Ciphers }) {
    this.#ciphers = modules.ciphers
  }

  /** Takes the key of an epoch, and when that was made, if whoever says so knows the key. All else follows from the key itself. */
  add(key: Uint8Array, createdMs?: number): EpochKey {
    const commitment = commitmentOf(this.#ciphers, key)
    const epoch = { id: epochIdOf(commitment), commitment, key, createdMs }
    const { epochs, given } = this.#entry(epoch.id)
    const known = epochs.find((one) => isSameBytes(one.commitment, commitment))
    const isNews = known === undefined || (known.createdMs === undefined && createdMs !== undefined)
    if (!isNews) return known
    const others = epochs.filter((one) => one !== known)
    // Two honest epochs of a stream hardly ever have one id; of those made on purpose a few are enough.
    this.#set(epoch.id, { epochs: [epoch, ...others].slice(0, maxKeysOfId), given })
    return epoch
  }

  /** Takes the key of a publisher in an epoch that is not known itself. */
  addPublisherKey(id: EpochId, publisherId: NodeId, key: Uint8Array): void {
    const { epochs, given } = this.#entry(id)
    if (this.publisherKeys(id, publisherId).some((one) => isSameBytes(one, key))) return
    this.#set(id, { epochs, given: [{ publisherId, key }, ...given].slice(0, maxKeysOfId) })
  }

  epochs(id: EpochId): readonly EpochKey[] {
    return this.#entries.get(id)?.epochs ?? none
  }

  /** The keys with which a publisher may have sealed in an epoch; the key that opens is the right one. */
  publisherKeys(id: EpochId, publisherId: NodeId): readonly Uint8Array[] {
    const entry = this.#entries.get(id)
    if (entry === undefined) return []
    const known = entry.publisherKeys.get(publisherId)
    if (known !== undefined) return known
    const derived = entry.epochs.map(({ key }) => publisherKeyOf(this.#ciphers, key, publisherId))
    const given = entry.given.filter((one) => one.publisherId === publisherId).map(({ key }) => key)
    const keys = [...derived, ...given]
    entry.publisherKeys.set(publisherId, keys)
    return keys
  }

  #entry(id: EpochId): Pick<Entry, 'epochs' | 'given'> {
    return this.#entries.get(id) ?? { epochs: none, given: none }
  }

  #set(id: EpochId, keys: Pick<Entry, 'epochs' | 'given'>): void {
    this.#entries.set(id, { ...keys, publisherKeys: new Map() })
    this.onKey()
  }
}
