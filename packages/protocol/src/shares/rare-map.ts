import { noEntries } from './no-entries.ts'

/**
 * A map that is empty most of the time in most nodes: it holds the memory of a `Map` (184 bytes) from its first entry to its last, and 32 bytes
 * otherwise. An iteration that was under way when the last entry went does not see those that come after.
 */
export class RareMap<K, V> implements ReadonlyMap<K, V> {
  #entries: Map<K, V> = noEntries()

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  set(key: K, value: V): this {
    if (this.#entries.size === 0) this.#entries = new Map()
    this.#entries.set(key, value)
    return this
  }

  /** False when there was no such entry. */
  delete(key: K): boolean {
    const wasThere = this.#entries.delete(key)
    if (wasThere && this.#entries.size === 0) this.#entries = noEntries()
    return wasThere
  }

  clear(): void {
    this.#entries.clear()
    this.#entries = noEntries()
  }

  forEach(fn: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.#entries) fn(value, key, this)
  }

  keys(): MapIterator<K> {
    return this.#entries.keys()
  }

  values(): MapIterator<V> {
    return this.#entries.values()
  }

  entries(): MapIterator<[K, V]> {
    return this.#entries.entries()
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.#entries[Symbol.iterator]()
  }
}
