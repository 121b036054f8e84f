import { backoffMs, isSameSignature, Shares, RareMap, type MessageBatch, type NodeId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import { authorKey, type Author } from '../delegations/authorship.ts'

export interface HeldBatchesLimits {
  readonly maxHeldBatches: number
  readonly maxHeldBytes: number
  readonly maxHeldPublishers: number
  readonly maxHeldMs: number
  readonly minLookupRetryMs: number
  readonly maxLookupRetryMs: number
}

/** A batch with a good signature whose publisher is not known to be permitted yet. */
export interface HeldBatch {
  /** Who published it, and under which delegation, which may be forgotten elsewhere meanwhile. */
  readonly author: Author
  readonly batch: MessageBatch
  readonly packet: Uint8Array
  readonly from: NodeId | undefined
}

/** An author that is being looked up. */
export interface Lookup {
  readonly author: Author
  /** Who brought its first batch. */
  readonly from: NodeId | undefined
  readonly sinceMs: number
  readonly batches: Set<HeldBatch>
  failures: number
  /** When to ask again; Infinity while a request is under way. */
  retryAtMs: number
}

/**
 * What waits for a registry's answer, by permission and author. A registry that does not answer is asked again for a while.
 * Places are shared out by who brings the batches: when they are full, the neighbour that holds most loses its newest.
 */
export class HeldBatches {
  readonly #limits: HeldBatchesLimits
  readonly #counters: Counters
  readonly #onRefused: (held: HeldBatch) => void
  readonly #waiting = new RareMap<string, Lookup>()
  readonly #lookups: Shares<Lookup>
  readonly #batches: Shares<HeldBatch>
  readonly #lookupOf = new WeakMap<HeldBatch, Lookup>()
  readonly #bytes: Shares<HeldBatch>

  /** `onRefused` is called with each batch that finds no space, or loses it. */
  constructor(
    limits: HeldBatchesLimits,
    modules: { readonly counters: Counters; readonly onRefused: (held: HeldBatch) => void },
  ) {
    this.#limits = limits
    this.#counters = modules.counters
    this.#onRefused = modules.onRefused
    this.#lookups = new Shares({ max: limits.maxHeldPublishers, evict: 'newest' })
    this.#batches = new Shares({ max: limits.maxHeldBatches, evict: 'newest' })
    this.#bytes = new Shares({ max: limits.maxHeldBytes, evict: 'newest' })
  }

  get batches(): number {
    return this.#batches.size
  }

  /** When `due` has something. */
  get dueMs(): number {
    let dueMs = Infinity
    for (const { retryAtMs } of this.#waiting.values()) dueMs = Math.min(dueMs, retryAtMs)
    return dueMs
  }

  /** `ask` when it is the first of its author, so that somebody finds out. */
  hold(held: HeldBatch, nowMs: number): 'ask' | 'waiting' | 'refused' {
    const { author } = held
    const known = this.#find(author)
    for (const { batch } of known?.batches ?? []) {
      if (!isSameSignature(batch.bytes, held.batch.bytes)) continue
      this.#counters['held.duplicates']++
      return 'waiting'
    }
    const lookup = known ?? this.#begin(author, held.from, nowMs)
    if (!this.#lookups.has(lookup)) {
      this.#onRefused(held)
      return 'refused'
    }
    if (!this.#add(lookup, held)) {
      if (lookup.batches.size === 0) this.#end(lookup)
      return 'refused'
    }
    this.#counters['held.batches']++
    return known === undefined ? 'ask' : 'waiting'
  }

  /** Nobody could say. False when that has gone on for too long. */
  retry(author: Author, nowMs: number): boolean {
    const lookup = this.#find(author)
    const { maxHeldMs, minLookupRetryMs, maxLookupRetryMs } = this.#limits
    if (lookup === undefined || nowMs - lookup.sinceMs >= maxHeldMs) return false
    lookup.retryAtMs = nowMs + backoffMs(++lookup.failures, minLookupRetryMs, maxLookupRetryMs)
    return true
  }

  /** Publishers to ask for again; each is yielded once. Those not consumed stay due. */
  *due(nowMs: number): Iterable<Lookup> {
    for (const lookup of this.#waiting.values()) {
      if (lookup.retryAtMs > nowMs) continue
      lookup.retryAtMs = Infinity
      yield lookup
    }
  }

  /** All that waited for this author, oldest first; they are no longer held. */
  release(author: Author): readonly HeldBatch[] {
    const lookup = this.#find(author)
    return lookup === undefined ? [] : this.#end(lookup)
  }

  #find(author: Author): Lookup | undefined {
    return this.#waiting.get(authorKey(author))
  }

  #begin(author: Author, from: NodeId | undefined, nowMs: number): Lookup {
    const batches = new Set<HeldBatch>()
    const retryAtMs = Infinity
    const lookup = { author, from, sinceMs: nowMs, batches, failures: 0, retryAtMs }
    this.#waiting.set(authorKey(author), lookup)
    for (const lost of this.#lookups.add(lookup, causeOf(from))) this.#end(lost).forEach(this.#onRefused)
    return lookup
  }

  /** False when there is no space for it. */
  #add(lookup: Lookup, held: HeldBatch): boolean {
    const cause = causeOf(held.from)
    lookup.batches.add(held)
    this.#lookupOf.set(held, lookup)
    this.#refuse(this.#batches.add(held, cause))
    if (this.#batches.has(held)) this.#refuse(this.#bytes.add(held, cause, held.packet.length))
    return this.#batches.has(held)
  }

  #refuse(batches: readonly HeldBatch[]): void {
    for (const held of batches) {
      this.#lookupOf.get(held)?.batches.delete(held)
      this.#release(held)
      this.#onRefused(held)
    }
  }

  #end(lookup: Lookup): readonly HeldBatch[] {
    const { author, batches } = lookup
    this.#lookups.delete(lookup)
    if (this.#find(author) === lookup) this.#waiting.delete(authorKey(author))
    for (const held of batches) this.#release(held)
    return [...batches]
  }

  #release(held: HeldBatch): void {
    this.#batches.delete(held)
    this.#bytes.delete(held)
  }
}

/** What no neighbour brought is of the archive. */
function causeOf(from: NodeId | undefined): string {
  return from ?? 'archive'
}
