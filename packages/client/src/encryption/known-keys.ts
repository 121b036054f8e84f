import {
  commitmentOf,
  epochIdOf,
  publisherKeyOf,
  toHex,
  type Ciphers,
  type EpochId,
  type NodeId,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { EpochKey } from './epoch-plan.ts'

/** Epochs whose keys are remembered for a stream: years of one publisher's, or a day of thousands of publishers'. */
const maxEpochs = 5_000

/** The keys of a stream that this process knows. */
export class KnownKeys {
  /** Called when a key is new here. */
  onKey: () => void = () => {}
  readonly #ciphers: Ciphers
  /** By id; of two epochs with the same id both. */
  readonly #epochs = new LRU<readonly EpochKey[]>(maxEpochs)
  /** Of publishers in epochs. */
  readonly #publisherKeys = new LRU<readonly Uint8Array[]>(maxEpochs)

  constructor(modules: { readonly ciphers: Ciphers }) {
    this.#ciphers = modules.ciphers
  }

  /** Takes the key of an epoch; what it belongs to follows from the key itself. */
  add(key: Uint8Array): EpochKey {
    const commitment = commitmentOf(this.#ciphers, key)
    const epoch = { id: epochIdOf(commitment), commitment, key }
    const known = this.#epochs.get(epoch.id) ?? []
    const name = toHex(commitment)
    if (known.some((one) => toHex(one.commitment) === name)) return epoch
    // Two honest epochs of a stream hardly ever have one id; of those made on purpose a few are enough.
    this.#epochs.set(epoch.id, [epoch, ...known].slice(0, 4))
    for (const entry of [...this.#publisherKeys.keys()])
      if (entry.startsWith(`${epoch.id} `)) this.#publisherKeys.delete(entry)
    this.onKey()
    return epoch
  }

  epochs(id: EpochId): readonly EpochKey[] {
    return this.#epochs.get(id) ?? []
  }

  /** The keys with which a publisher may have sealed in an epoch; the key that opens is the right one. */
  publisherKeys(id: EpochId, publisherId: NodeId): readonly Uint8Array[] {
    const name = `${id} ${publisherId}`
    const known = this.#publisherKeys.get(name)
    if (known !== undefined) return known
    const keys = this.epochs(id).map(({ key }) => publisherKeyOf(this.#ciphers, key, publisherId))
    if (keys.length > 0) this.#publisherKeys.set(name, keys)
    return keys
  }
}
