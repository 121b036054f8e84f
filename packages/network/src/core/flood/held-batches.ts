import type { MessageBatch, MessageRef, NodeId, StreamId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import { backoffMs } from '../neighbours/backoff.ts'

export interface HeldBatchesLimits {
  readonly maxHeldBatches: number
  readonly maxHeldBytes: number
  readonly maxHeldPublishers: number
  readonly maxHeldMs: number
  readonly minLookupRetryMs: number
  readonly maxLookupRetryMs: number
}

/** A batch with a good signature whose publisher is not known to be allowed yet. */
export interface HeldBatch {
  readonly batch: MessageBatch
  readonly packet: Uint8Array
  readonly from: NodeId | undefined
}

/** A publisher that is being looked up. */
interface Lookup {
  readonly streamId: StreamId
  readonly publisherId: NodeId
  readonly sinceMs: number
  readonly batches: HeldBatch[]
  failures: number
  /** When to ask again; Infinity while somebody is being asked. */
  retryAtMs: number
}

/** What waits for a registry's answer, by stream and publisher. A registry that does not answer is asked again for a while. */
export class HeldBatches {
  readonly #limits: HeldBatchesLimits
  readonly #counters: Counters
  readonly #streams = new Map<StreamId, Map<NodeId, Lookup>>()
  #publishers = 0
  #batches = 0
  #bytes = 0

  constructor(limits: HeldBatchesLimits, counters: Counters) {
    this.#limits = limits
    this.#counters = counters
  }

  get batches(): number {
    return this.#batches
  }

  /** When `due` has something. */
  get dueMs(): number {
    let dueMs = Infinity
    for (const { retryAtMs } of this.#lookups()) dueMs = Math.min(dueMs, retryAtMs)
    return dueMs
  }

  /** `ask` when it is the first of its publisher, so that somebody finds out; `refused` when a limit is reached. */
  hold(held: HeldBatch, nowMs: number): 'ask' | 'waiting' | 'refused' {
    const { streamId, publisherId } = held.batch.chain
    const known = this.#streams.get(streamId)?.get(publisherId)
    if (known?.batches.some(({ batch }) => isSame(batch, held.batch)) === true) {
      this.#counters['held.duplicates']++
      return 'waiting'
    }
    if (this.#isFull(held, known === undefined)) {
      this.#counters['held.refused']++
      return 'refused'
    }
    this.#batches++
    this.#bytes += held.packet.length
    this.#counters['held.batches']++
    if (known !== undefined) {
      known.batches.push(held)
      return 'waiting'
    }
    this.#publishers++
    const publishers = this.#streams.get(streamId) ?? new Map<NodeId, Lookup>()
    const lookup = {
      streamId,
      publisherId,
      sinceMs: nowMs,
      batches: [held],
      failures: 0,
      retryAtMs: Infinity,
    }
    publishers.set(publisherId, lookup)
    this.#streams.set(streamId, publishers)
    return 'ask'
  }

  /** Nobody could say. False when that has gone on for too long. */
  retry(streamId: StreamId, publisherId: NodeId, nowMs: number): boolean {
    const lookup = this.#streams.get(streamId)?.get(publisherId)
    const { maxHeldMs, minLookupRetryMs, maxLookupRetryMs } = this.#limits
    if (lookup === undefined || nowMs - lookup.sinceMs >= maxHeldMs) return false
    lookup.retryAtMs = nowMs + backoffMs(++lookup.failures, minLookupRetryMs, maxLookupRetryMs)
    return true
  }

  /** Publishers to ask for again; each is given once. Those not taken stay due. */
  *due(nowMs: number): Iterable<Pick<Lookup, 'streamId' | 'publisherId'>> {
    for (const lookup of this.#lookups()) {
      if (lookup.retryAtMs > nowMs) continue
      lookup.retryAtMs = Infinity
      yield lookup
    }
  }

  /** All that waited for this publisher, oldest first; they are no longer held. */
  release(streamId: StreamId, publisherId: NodeId): readonly HeldBatch[] {
    const publishers = this.#streams.get(streamId)
    const released = publishers?.get(publisherId)?.batches
    if (publishers === undefined || released === undefined) return []
    publishers.delete(publisherId)
    if (publishers.size === 0) this.#streams.delete(streamId)
    this.#publishers--
    this.#batches -= released.length
    for (const { packet } of released) this.#bytes -= packet.length
    return released
  }

  *#lookups(): Iterable<Lookup> {
    for (const publishers of this.#streams.values()) yield* publishers.values()
  }

  #isFull(held: HeldBatch, newPublisher: boolean): boolean {
    return (
      this.#batches >= this.#limits.maxHeldBatches ||
      this.#bytes + held.packet.length > this.#limits.maxHeldBytes ||
      (newPublisher && this.#publishers >= this.#limits.maxHeldPublishers)
    )
  }
}

function isSame(a: MessageBatch, b: MessageBatch): boolean {
  const [first, second] = [a.messages.at(-1), b.messages.at(-1)]
  return (
    a.chain.messageChainId === b.chain.messageChainId &&
    a.chain.partition === b.chain.partition &&
    first !== undefined &&
    second !== undefined &&
    isSamePlace(first, second)
  )
}

function isSamePlace(a: MessageRef, b: MessageRef): boolean {
  return a.timestamp === b.timestamp && a.sequenceNumber === b.sequenceNumber
}
