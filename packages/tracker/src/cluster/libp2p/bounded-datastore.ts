import { NotFoundError } from '@libp2p/interface'
import { BaseDatastore } from 'datastore-core'
import { Key, type Pair, type Query } from 'interface-datastore'

/** What an entry takes beside its name and value: other trackers choose how many there are, also of almost empty ones. */
const entryOverheadBytes = 256

/** An in-memory store that drops its oldest entries when it is full. Missing records are fetched from other trackers again. */
export class BoundedDatastore extends BaseDatastore {
  readonly #maxBytes: number
  readonly #onEvict: () => void
  readonly #entries = new Map<string, Uint8Array>()
  #bytes = 0

  constructor(options: { readonly maxBytes: number }, modules: { readonly onEvict: () => void }) {
    super()
    this.#maxBytes = options.maxBytes
    this.#onEvict = modules.onEvict
  }

  override put(key: Key, value: Uint8Array): Key {
    const name = key.toString()
    this.#remove(name)
    this.#entries.set(name, value)
    this.#bytes += entryBytes(name, value)
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.#remove(oldest)
      this.#onEvict()
    }
    return key
  }

  override get(key: Key): Uint8Array {
    const value = this.#entries.get(key.toString())
    if (value === undefined) throw new NotFoundError()
    return value
  }

  override has(key: Key): boolean {
    return this.#entries.has(key.toString())
  }

  override delete(key: Key): void {
    this.#remove(key.toString())
  }

  override async *_all(_query: Query): AsyncGenerator<Pair> {
    for (const [name, value] of this.#entries) yield { key: new Key(name), value }
  }

  override async *_allKeys(): AsyncGenerator<Key> {
    for (const name of this.#entries.keys()) yield new Key(name)
  }

  #remove(name: string): void {
    const value = this.#entries.get(name)
    if (value === undefined) return
    this.#bytes -= entryBytes(name, value)
    this.#entries.delete(name)
  }
}

function entryBytes(name: string, value: Uint8Array): number {
  return entryOverheadBytes + name.length + value.length
}
