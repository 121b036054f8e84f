import { Shares, type Clock } from '@runnel/protocol'
import { clientError } from '../errors.ts'

export interface LookupCacheOptions {
  /** Entries kept; beyond it the one not used for longest goes. */
  readonly maxEntries: number
  /** After this an entry is still used, but asked for again behind the scenes. */
  readonly maxAgeMs: number
  /** Denials kept beside them; a quarter of `maxEntries` by default. */
  readonly maxDenials?: number | undefined
}

export interface LookupCacheModules<K, V> {
  readonly clock: Clock
  readonly load: (key: K) => Promise<V>
  /** True for entries that strangers can request without end: up to `maxDenials` of these are kept, shared out by cause. */
  readonly isDenial?: (value: V) => boolean
  /** Called when a known value was looked up again, with what it was and what it is. */
  readonly onReplaced?: (before: V, after: V) => void
}

/** Concurrent look-ups of different keys, shared out by cause. */
const maxFlights = 256
/** All look-ups, including those that lost their place and are not answered yet. */
const maxLoads = 512
/** After a failed refresh of an entry, the next one waits this long. */
const retryRefreshMs = 5_000
/** Of what this process wants itself. */
const ownCause = 'own'

/** A look-up under way. */
interface Flight<V> {
  readonly cause: string
  readonly landed: Promise<V>
  readonly callOff: () => void
  isCalledOff: boolean
  /** Its result may be out of date by now. */
  outdated: boolean
}

interface Entry<V> {
  readonly value: V
  refreshAtMs: number
}

/**
 * Caches look-ups. Concurrent look-ups of one key share one request. A known answer stays in use while the source cannot be
 * reached.
 */
export class LookupCache<K extends string, V extends object | null> {
  readonly #options: LookupCacheOptions
  readonly #modules: LookupCacheModules<K, V>
  readonly #entries = new Map<K, Entry<V>>()
  /** Their places, in order of use. */
  readonly #kept: Shares<K>
  readonly #denials: Shares<K>
  readonly #flights = new Map<K, Flight<V>>()
  readonly #flightShares = new Shares<Flight<V>>({ max: maxFlights, evict: 'newest' })
  #loads = 0
  #evicted = 0

  constructor(options: LookupCacheOptions, modules: LookupCacheModules<K, V>) {
    this.#options = options
    this.#modules = modules
    this.#kept = new Shares({ max: options.maxEntries, evict: 'oldest' })
    this.#denials = new Shares({
      max: options.maxDenials ?? Math.ceil(options.maxEntries / 4),
      evict: 'oldest',
    })
  }

  get size(): number {
    return this.#entries.size
  }

  /** How many entries were dropped because there were too many. */
  get evicted(): number {
    return this.#evicted
  }

  /** The known value at once; refreshes it in the background when it is old. */
  peek(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#kept.touch(key)
    this.#denials.touch(key)
    if (this.#modules.clock.monotonicMs() >= entry.refreshAtMs) this.#refresh(key, entry)
    return entry.value
  }

  /**
   * The known value, or else the result of a look-up, which is repeated if a change overtakes it. Afterwards `peek` returns it.
   * When too many look-ups are pending, the cause of most of them loses its newest. Throws what the look-up throws, or
   * TOO_MANY_LOOKUPS.
   */
  async get(key: K, cause: string = ownCause): Promise<V> {
    for (;;) {
      const known = this.peek(key)
      if (known !== undefined) return known
      const flight = this.#fly(key, cause)
      try {
        const value = await flight.landed
        if (!flight.outdated) return value
      } catch (error) {
        // It was another's that lost its place.
        if (!flight.isCalledOff || flight.cause === cause) throw error
      }
    }
  }

  /** Drops a value known to be wrong; a pending look-up may have read it too early, so its result is ignored. */
  forget(matches: (key: K) => boolean): void {
    for (const key of this.#entries.keys()) if (matches(key)) this.#drop(key)
    for (const [key, flight] of this.#flights) {
      if (!matches(key)) continue
      flight.outdated = true
      this.#end(key, flight)
    }
  }

  #refresh(key: K, entry: Entry<V>): void {
    entry.refreshAtMs = this.#modules.clock.monotonicMs() + retryRefreshMs
    if (this.#flightShares.size >= maxFlights || this.#loads >= maxLoads) return
    // The source itself reports that it does not answer; the entry is kept.
    this.#fly(key, ownCause).landed.catch(() => {})
  }

  #fly(key: K, cause: string): Flight<V> {
    const known = this.#flights.get(key)
    if (known !== undefined) return known
    if (this.#loads >= maxLoads) throw clientError('TOO_MANY_LOOKUPS')
    const { promise: landed, resolve, reject } = Promise.withResolvers<V>()
    const callOff = () => {
      flight.isCalledOff = true
      this.#end(key, flight)
      reject(clientError('TOO_MANY_LOOKUPS'))
    }
    const flight: Flight<V> = { cause, landed, callOff, isCalledOff: false, outdated: false }
    const lost = this.#flightShares.add(flight, cause)
    if (lost.includes(flight)) throw clientError('TOO_MANY_LOOKUPS')
    for (const other of lost) other.callOff()
    this.#flights.set(key, flight)
    this.#loads++
    this.#modules
      .load(key)
      .then((value) => {
        if (!flight.outdated) this.#store(key, cause, value)
        resolve(value)
      }, reject)
      .finally(() => {
        this.#loads--
        this.#end(key, flight)
      })
    return flight
  }

  #end(key: K, flight: Flight<V>): void {
    this.#flightShares.delete(flight)
    if (this.#flights.get(key) === flight) this.#flights.delete(key)
  }

  #store(key: K, cause: string, value: V): void {
    const before = this.#entries.get(key)
    this.#drop(key)
    this.#entries.set(key, { value, refreshAtMs: this.#modules.clock.monotonicMs() + this.#options.maxAgeMs })
    const isDenial = this.#modules.isDenial?.(value) === true
    const evicted = isDenial ? this.#denials.add(key, cause) : this.#kept.add(key, ownCause)
    for (const lost of evicted) {
      this.#drop(lost)
      this.#evicted++
    }
    if (before !== undefined) this.#modules.onReplaced?.(before.value, value)
  }

  #drop(key: K): void {
    this.#entries.delete(key)
    this.#kept.delete(key)
    this.#denials.delete(key)
  }
}
