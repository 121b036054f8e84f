import type { Clock } from '@runnel/protocol'
import { clientError } from '../errors.ts'

export interface LookupCacheOptions {
  /** Entries kept; beyond it the one not used for longest goes. */
  readonly maxEntries: number
  /** After this an entry is still used, but asked for again behind the scenes. */
  readonly maxAgeMs: number
}

/** Look-ups under way at once, of different keys. */
const maxFlights = 256
/** After a failed refresh of an entry the next one waits this long. */
const retryRefreshMs = 5_000

/** A look-up under way. */
interface Flight<V> {
  readonly landed: Promise<V>
  /** What it finds may have changed meanwhile. */
  outdated: boolean
}

interface Entry<V> {
  readonly value: V
  refreshAtMs: number
}

/**
 * Remembers what was looked up. Look-ups of one key at the same time are one; what is known stays in use while nobody
 * can be asked.
 */
export class LookupCache<K extends string, V extends object | null> {
  readonly #options: LookupCacheOptions
  readonly #clock: Clock
  readonly #load: (key: K) => Promise<V>
  /** In order of use, so that the first one is the one to drop. */
  readonly #entries = new Map<K, Entry<V>>()
  readonly #flights = new Map<K, Flight<V>>()
  #evicted = 0

  constructor(options: LookupCacheOptions, modules: { clock: Clock; load: (key: K) => Promise<V> }) {
    this.#options = options
    this.#clock = modules.clock
    this.#load = modules.load
  }

  get size(): number {
    return this.#entries.size
  }

  /** How many entries were dropped because of `maxEntries`. */
  get evicted(): number {
    return this.#evicted
  }

  /** What is known, at once; asks again behind the scenes when it is old. */
  peek(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (this.#clock.now() >= entry.refreshAtMs) this.#refresh(key, entry)
    return entry.value
  }

  /**
   * What is known, or else what a look-up finds; one that is overtaken by a change is repeated. Afterwards `peek` knows.
   * Throws what the look-up throws, or TOO_MANY_LOOKUPS.
   */
  async get(key: K): Promise<V> {
    for (;;) {
      const known = this.peek(key)
      if (known !== undefined) return known
      const flight = this.#fly(key)
      const value = await flight.landed
      if (!flight.outdated) return value
    }
  }

  /** Forgets what is known to be wrong; a look-up under way may have come too early, and does not count. */
  forget(matches: (key: K) => boolean): void {
    for (const key of this.#entries.keys()) if (matches(key)) this.#entries.delete(key)
    for (const [key, flight] of this.#flights) {
      if (!matches(key)) continue
      flight.outdated = true
      this.#flights.delete(key)
    }
  }

  #refresh(key: K, entry: Entry<V>): void {
    entry.refreshAtMs = this.#clock.now() + retryRefreshMs
    if (this.#flights.size >= maxFlights) return
    // Whoever is asked reports when it does not answer; the entry stays as it is.
    this.#fly(key).landed.catch(() => {})
  }

  #fly(key: K): Flight<V> {
    const known = this.#flights.get(key)
    if (known !== undefined) return known
    if (this.#flights.size >= maxFlights) throw clientError('TOO_MANY_LOOKUPS')
    const landed = this.#load(key)
      .then((value) => {
        if (!flight.outdated) this.#store(key, value)
        return value
      })
      .finally(() => {
        if (!flight.outdated) this.#flights.delete(key)
      })
    const flight: Flight<V> = { landed, outdated: false }
    this.#flights.set(key, flight)
    return flight
  }

  #store(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, refreshAtMs: this.#clock.now() + this.#options.maxAgeMs })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#options.maxEntries) break
      this.#entries.delete(oldest)
      this.#evicted++
    }
  }
}
