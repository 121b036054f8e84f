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
/** Epochs with the same id. */
const maxEpochsOfId = 4

interface Entry {
  /** Of two epochs with the same id both. */
  readonly epochs: readonly EpochKey[]
  /** Of publishers, those that were used. */
  readonly publisherKeys: Map<NodeId, readonly Uint8Array[]>
}

/** The keys of a stream that this process knows. */
export class KnownKeys {
  /** Called when a key is new here. */
  onKey: () => void = () => {}
  readonly #ciphers: Ciphers
  readonly #entries = new LRU<Entry>(maxEpochs)

  constructor(modules: { readonly ciphers: Ciphers }) {
    this.#ciphers = modules.ciphers
  }

  /** Takes the key of an epoch; what it belongs to follows from the key itself. */
  add(key: Uint8Array): EpochKey {
    const commitment = commitmentOf(this.#ciphers, key)
    const epoch = { id: epochIdOf(commitment), commitment, key }
    const known = this.epochs(epoch.id)
    if (known.some((one) => isSameBytes(one.commitment, commitment))) return epoch
    // Two honest epochs of a stream hardly ever have one id; of those made on purpose a few are enough.
    const epochs = [epoch, ...known].slice(0, maxEpochsOfId)
    this.#entries.set(epoch.id, { epochs, publisherKeys: new Map() })
    this.onKey()
    return epoch
  }

  epochs(id: EpochId): readonly EpochKey[] {
    return this.#entries.get(id)?.epochs ?? []
  }

  /** The keys with which a publisher may have sealed in an epoch; the key that opens is the right one. */
  publisherKeys(id: EpochId, publisherId: NodeId): readonly Uint8Array[] {
    const entry = this.#entries.get(id)
    if (entry === undefined) return []
    const known = entry.publisherKeys.get(publisherId)
    if (known !== undefined) return known
    const keys = entry.epochs.map(({ key }) => publisherKeyOf(this.#ciphers, key, publisherId))
    entry.publisherKeys.set(publisherId, keys)
    return keys
  }
}
