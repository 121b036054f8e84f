import { LRU } from 'tiny-lru'
import type { NodeId } from '../ids/node-id.ts'
import type { CheckSignature } from './backend.ts'

export const knownKeysLimits = {
  /** Keys remembered; the least recently used is forgotten first. */
  maxKnownKeys: 32,
  /** A key's check is prepared once it has been recovered this often: preparing costs about what ten checks save. */
  minRecoveries: 16,
} as const

interface KnownKey {
  recoveries: number
  check: CheckSignature | undefined
}

/** The keys that sign often, whose signatures are checked more quickly than by recovering the key from each. */
export class KnownKeys {
  readonly #prepare: (publicKey: Uint8Array) => CheckSignature
  readonly #keys = new LRU<KnownKey>(knownKeysLimits.maxKnownKeys)

  constructor(prepare: (publicKey: Uint8Array) => CheckSignature) {
    this.#prepare = prepare
  }

  /** True when the key of this address signed. False says nothing: it may not be known. */
  confirms(address: NodeId, digest: Uint8Array, signature: Uint8Array): boolean {
    const known = this.#keys.peek(address)
    if (known?.check?.(digest, signature) !== true) return false
    this.#keys.set(address, known)
    return true
  }

  /** A signature gave this key. */
  recovered(address: NodeId, publicKey: Uint8Array): void {
    const known = this.#keys.peek(address) ?? { recoveries: 0, check: undefined }
    if (++known.recoveries === knownKeysLimits.minRecoveries) known.check = this.#prepare(publicKey)
    this.#keys.set(address, known)
  }
}
