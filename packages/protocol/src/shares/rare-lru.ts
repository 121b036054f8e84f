import { LRU } from 'tiny-lru'

/** A cache of the `max` entries used last that most nodes never use: it is made with its first entry, as an empty one takes 700 bytes. */
export class RareLru<K extends string, V> {
  readonly #max: number
  #cache: LRU<V> | undefined

  constructor(max: number) {
    this.#max = max
  }

  /** Counts as a use. */
  get(key: K): V | undefined {
    return this.#cache?.get(key)
  }

  /** Does not count as one. */
  peek(key: K): V | undefined {
    return this.#cache?.peek(key)
  }

  /** True when another entry had to go. */
  set(key: K, value: V): boolean {
    this.#cache ??= new LRU(this.#max)
    return this.#cache.setWithEvicted(key, value) !== null
  }

  delete(key: K): void {
    this.#cache?.delete(key)
  }

  clear(): void {
    this.#cache = undefined
  }

  /** Those used longest ago first. */
  forEach(fn: (value: V, key: K) => void): void {
    this.#cache?.forEach(fn)
  }
}
