import { deriveKey, nodeIdToBytes, wrapKey, type Ciphers, type NodeId } from '@runnel/protocol'
import { keyringIdBytes } from '@runnel/protocol/key-records'

const encoder = new TextEncoder()

/** The secret of a user's keyring in a stream, from its reading key: the same in each of its processes. */
export function keyringMaster(ciphers: Ciphers, readingKey: Uint8Array, streamId: string): Uint8Array {
  return deriveKey(ciphers, readingKey, 'keyring', encoder.encode(streamId))
}

/** With what an opener links readers to its epochs. */
export class Keyring {
  /** 16 bytes. */
  readonly id: Uint8Array
  readonly #master: Uint8Array
  readonly #ciphers: Ciphers

  constructor(options: { readonly master: Uint8Array }, modules: { readonly ciphers: Ciphers }) {
    this.#master = options.master
    this.#ciphers = modules.ciphers
    this.id = deriveKey(modules.ciphers, options.master, 'keyring id').slice(0, keyringIdBytes)
  }

  /** What a reader with that card gets by its link. */
  linkSecret(readerId: NodeId, cardHash: Uint8Array): Uint8Array {
    return deriveKey(this.#ciphers, this.#master, 'link', nodeIdToBytes(readerId), cardHash)
  }

  /** Wraps the key of an epoch for the opener itself, or unwraps it. */
  own(commitment: Uint8Array, key: Uint8Array): Uint8Array {
    return wrapKey(this.#ciphers, this.#master, 'own epoch', commitment, key)
  }
}
