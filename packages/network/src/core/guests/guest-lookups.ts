import { LRU } from 'tiny-lru'

export interface GuestLookupsLimits {
  readonly maxGuestLookups: number
  readonly guestLookupWindowMs: number
  readonly maxGuests: number
}

interface Counted {
  lookups: number
  readonly endsMs: number
}

/**
 * How often the registry is asked for guests of one network of addresses, in windows: a key costs nothing, and neither does a name of a
 * stream. It outlives their links, and those of the networks that asked longest ago are forgotten first.
 */
export class GuestLookups {
  readonly #limits: GuestLookupsLimits
  readonly #counted: LRU<Counted>

  constructor(limits: GuestLookupsLimits) {
    this.#limits = limits
    this.#counted = new LRU(limits.maxGuests)
  }

  /** Whether the registry may be asked once more. */
  hasRoom(network: string, nowMs: number): boolean {
    return this.#of(network, nowMs).lookups < this.#limits.maxGuestLookups
  }

  /** It is asked. */
  add(network: string, nowMs: number): void {
    const counted = this.#of(network, nowMs)
    counted.lookups++
    this.#counted.set(network, counted)
  }

  #of(network: string, nowMs: number): Counted {
    const known = this.#counted.peek(network)
    if (known !== undefined && nowMs < known.endsMs) return known
    return { lookups: 0, endsMs: nowMs + this.#limits.guestLookupWindowMs }
  }
}
