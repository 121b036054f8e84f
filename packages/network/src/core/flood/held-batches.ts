import {
  backoffMs,
  isSameSignature,
  Shares,
  type MessageBatch,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'

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
  readonly batch: MessageBatch
  readonly packet: Uint8Array
  readonly from: NodeId | undefined
}

/** A publisher that is being looked up. */
export interface Lookup {
  readonly streamId: StreamId
  readonly publisherId: NodeId
  /** The neighbour that brought its first batch. */
  readonly from: NodeId | undefined
  readonly sinceMs: number
  readonly batches: Set<HeldBatch>
  failures: number
  /** When to ask again; Infinity while a request is under way. */
  retryAtMs: number
}

/**
 * Batches that wait for the registry's answer, by stream and publisher. A registry that does not answer is asked again for a
 * while. Space is shared between the neighbours that bring batches: when it is full, the one that holds the most loses its
 * newest.
 */
export class HeldBatches {
  readonly #limits: HeldBatchesLimits
  readonly #counters: Counters
  readonly #onRefused: (held: HeldBatch) => void
  readonly #streams = new Map<StreamId, Map<NodeId, Lookup>>()
  readonly #lookups: Shares<Lookup>
  readonly #batches: Shares<HeldBatch>
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
    for (const { retryAtMs } of this.#all()) dueMs = Math.min(dueMs, retryAtMs)
    return dueMs
  }

  /** `ask` for the first of its publisher: the caller must look the publisher up. */
  hold(held: HeldBatch, nowMs: number): 'ask' | 'waiting' | 'refused' {
    const { streamId, publisherId } = held.batch.chain
    const known = this.#find(streamId, publisherId)
    for (const { batch } of known?.batches ?? []) {
      if (!isSameSignature(batch.bytes, held.batch.bytes)) continue
      this.#counters['held.duplicates']++
      return 'waiting'
    }
    const lookup = known ?? this.#begin(held, nowMs)
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

  /** The registry gave no answer. False when that has gone on for too long. */
  retry(streamId: StreamId, publisherId: NodeId, nowMs: number): boolean {
    const lookup = this.#find(streamId, publisherId)
    const { maxHeldMs, minLookupRetryMs, maxLookupRetryMs } = this.#limits
    if (lookup === undefined || nowMs - lookup.sinceMs >= maxHeldMs) return false
    lookup.retryAtMs = nowMs + backoffMs(++lookup.failures, minLookupRetryMs, maxLookupRetryMs)
    return true
  }

  /** Publishers to ask for again; each is yielded once. Those not consumed stay due. */
  *due(nowMs: number): Iterable<Lookup> {
    for (const lookup of this.#all()) {
      if (lookup.retryAtMs > nowMs) continue
      lookup.retryAtMs = Infinity
      yield lookup
    }
  }

  /** Removes and returns all batches that waited for this publisher, oldest first. */
  release(streamId: StreamId, publisherId: NodeId): readonly HeldBatch[] {
    const lookup = this.#find(streamId, publisherId)
    return lookup === undefined ? [] : this.#end(lookup)
  }

  #find(streamId: StreamId, publisherId: NodeId): Lookup | undefined {
    return this.#streams.get(streamId)?.get(publisherId)
  }

  #begin({ batch, from }: HeldBatch, nowMs: number): Lookup {
    const { streamId, publisherId } = batch.chain
    const batches = new Set<HeldBatch>()
    const retryAtMs = Infinity
    const lookup = { streamId, publisherId, from, sinceMs: nowMs, batches, failures: 0, retryAtMs }
    const publishers = this.#streams.get(streamId) ?? new Map<NodeId, Lookup>()
    publishers.set(publisherId, lookup)
    this.#streams.set(streamId, publishers)
    for (const lost of this.#lookups.add(lookup, causeOf(from))) this.#end(lost).forEach(this.#onRefused)
    return lookup
  }

  /** False when there is no space for it. */
  #add(lookup: Lookup, held: HeldBatch): boolean {
    const cause = causeOf(held.from)
    lookup.batches.add(held)
    this.#refuse(this.#batches.add(held, cause))
    if (this.#batches.has(held)) this.#refuse(this.#bytes.add(held, cause, held.packet.length))
    return this.#batches.has(held)
  }

  #refuse(batches: readonly HeldBatch[]): void {
    for (const held of batches) {
      const { streamId, publisherId } = held.batch.chain
      this.#find(streamId, publisherId)?.batches.delete(held)
      this.#release(held)
      this.#onRefused(held)
    }
  }

  #end(lookup: Lookup): readonly HeldBatch[] {
    const { streamId, publisherId, batches } = lookup
    this.#lookups.delete(lookup)
    const publishers = this.#streams.get(streamId)
    if (publishers?.get(publisherId) === lookup) publishers.delete(publisherId)
    if (publishers?.size === 0) this.#streams.delete(streamId)
    for (const held of batches) this.#release(held)
    return [...batches]
  }

  #release(held: HeldBatch): void {
    this.#batches.delete(held)
    this.#bytes.delete(held)
  }

  *#all(): Iterable<Lookup> {
    for (const publishers of this.#streams.values()) yield* publishers.values()
  }
}

/** What no neighbour brought came from the archive. */
function causeOf(from: NodeId | undefined): string {
  return from ?? 'archive'
}
