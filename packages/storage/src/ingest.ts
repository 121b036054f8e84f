import {
  backoffMs,
  decodeBatch,
  isRunnelError,
  toStreamPartId,
  type Cancel,
  type Clock,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type StreamPartId,
} from '@runnel/protocol'
import type { StorageLimits } from './storage-limits.ts'
import type { KnownDelegations } from './known-delegations.ts'
import type { MessageStore } from './store/message-store.ts'
import { countedBytes, type EncodedDelegations } from './store/stored-delegations.ts'

export interface IngestOptions {
  readonly maxQueuedBytes: number
  readonly maxQueuedBatches: number
  readonly limits: Pick<
    StorageLimits,
    'maxAppendBatches' | 'maxAppendBytes' | 'minStoreBackoffMs' | 'maxStoreBackoffMs'
  >
}

export interface IngestEvents {
  /** A batch found no room: the stream part misses what is in it, from this time on, until it is repaired. */
  dropped(streamPartId: StreamPartId, fromMs: number): void
  /** Said once, until it has caught up. */
  slow(): void
  /** The store failed; the same batches are tried again. */
  failed(error: unknown): void
  /** Batches of a stream part were dropped because the store threw what is none of its failures. */
  fault(streamPartId: StreamPartId, error: unknown): void
  /** It works again. */
  recovered(): void
}

export interface IngestStatus {
  readonly queuedBatches: number
  readonly queuedBytes: number
  /** How long the oldest queued batch has waited. */
  readonly lagMs: number
  readonly storedBatches: number
  readonly storedMessages: number
  readonly droppedBatches: number
  readonly failures: number
  readonly faults: number
}

/** How often a group of batches is tried, if none can be stored, before it is dropped. */
const maxFaultsInARow = 5

interface Queued {
  readonly batch: MessageBatch
  /** The bytes of the delegation that it names. */
  readonly delegation: Uint8Array | undefined
  /** What it counts for. */
  readonly bytes: number
  readonly sinceMs: number
}

/** Between the network, which cannot wait, and the store, which may be slow or fail: a bounded queue and its one writer. */
export class Ingest {
  readonly #options: IngestOptions
  readonly #store: Pick<MessageStore, 'append'>
  readonly #clock: Clock
  readonly #delegations: Pick<KnownDelegations, 'bytesOf' | 'isToBeKept'>
  readonly #events: IngestEvents
  #queue: Queued[] = []
  #queuedBytes = 0
  #counters = { storedBatches: 0, storedMessages: 0, droppedBatches: 0, failures: 0, faults: 0 }
  #isWriting = false
  #writing: Promise<void> = Promise.resolve()
  #failuresInARow = 0
  #isFull = false
  #stopped = false
  #wake: () => void = () => {}
  /** The waiters for each place. */
  readonly #awaited = new Map<string, Set<() => void>>()
  /** Everything pushed earlier is stored or dropped once the count of removed batches reaches it. */
  #pushed = 0
  #done = 0
  readonly #flushes = new Set<{ readonly upTo: number; resolve(): void }>()

  constructor(
    options: IngestOptions,
    modules: {
      store: Pick<MessageStore, 'append'>
      clock: Clock
      delegations: Pick<KnownDelegations, 'bytesOf' | 'isToBeKept'>
      events: IngestEvents
    },
  ) {
    this.#options = options
    this.#store = modules.store
    this.#clock = modules.clock
    this.#delegations = modules.delegations
    this.#events = modules.events
  }

  /** Takes a batch and copies it, unless it is not to be kept. False when there is no room, or its delegation is not known any more. */
  push(batch: MessageBatch): boolean {
    if (!this.#delegations.isToBeKept(batch)) return true
    const { maxQueuedBatches, maxQueuedBytes } = this.#options
    const { delegationRef: ref } = batch
    const delegation = ref && this.#delegations.bytesOf(ref)
    const bytes = countedBytes(batch, delegation)
    if (ref !== undefined && delegation === undefined) {
      this.#miss(batch)
      return false
    }
    if (
      this.#stopped ||
      this.#queue.length >= maxQueuedBatches ||
      (this.#queue.length > 0 && this.#queuedBytes + bytes > maxQueuedBytes)
    ) {
      this.#drop(batch)
      return false
    }
    // A batch is a view of the frame it came in, which would be kept with it.
    const copy = decodeBatch(batch.bytes.slice())
    this.#queue.push({ batch: copy, delegation, bytes, sinceMs: this.#clock.monotonicMs() })
    this.#queuedBytes += bytes
    this.#pushed++
    if (!this.#isWriting) this.#writing = this.#write()
    return true
  }

  /** Calls back once the message is stored, unless cancelled before. */
  whenStored(chain: MessageChain, place: MessageRef, onStored: () => void): Cancel {
    const key = keyOf(chain, place)
    const waiting = this.#awaited.get(key) ?? new Set()
    this.#awaited.set(key, waiting.add(onStored))
    return () => {
      waiting.delete(onStored)
      if (waiting.size === 0 && this.#awaited.get(key) === waiting) this.#awaited.delete(key)
    }
  }

  /** Resolves when everything taken until now is stored or dropped, and after the time at the latest. */
  flushed(maxMs: number): Promise<void> {
    if (this.#done >= this.#pushed) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        this.#flushes.delete(flush)
        cancel()
        resolve()
      }
      const flush = { upTo: this.#pushed, resolve: end }
      const cancel = this.#clock.schedule(maxMs, end)
      this.#flushes.add(flush)
    })
  }

  status(): IngestStatus {
    const [oldest] = this.#queue
    return {
      queuedBatches: this.#queue.length,
      queuedBytes: this.#queuedBytes,
      lagMs: oldest === undefined ? 0 : Math.round(this.#clock.monotonicMs() - oldest.sinceMs),
      ...this.#counters,
    }
  }

  /** Takes nothing more, and tries once more to store what is queued. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    await this.#writing
    for (const { resolve } of this.#flushes) resolve()
  }

  #drop(batch: MessageBatch): void {
    this.#miss(batch)
    if (this.#isFull) return
    this.#isFull = true
    this.#events.slow()
  }

  #miss(batch: MessageBatch): void {
    this.#counters.droppedBatches++
    const { streamId, partition } = batch.chain
    this.#events.dropped(toStreamPartId(streamId, partition), batch.messages[0]?.timestamp ?? 0)
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#queue.length > 0) {
      const chunk = this.#queue.slice(0, this.#chunkSize())
      const batches = chunk.map(({ batch }) => batch)
      const delegations = delegationsOf(chunk)
      try {
        await this.#store.append(batches, delegations)
      } catch (error) {
        this.#counters.failures++
        this.#failuresInARow++
        if (!isStoreFailure(error) && (await this.#storeApart(batches, delegations))) continue
        this.#events.failed(error)
        if (this.#stopped) break
        await this.#pause()
        continue
      }
      if (this.#failuresInARow > 0) this.#events.recovered()
      this.#failuresInARow = 0
      this.#take(batches)
      this.#stored(batches)
      this.#resolveFlushes()
    }
    // In the turn in which the queue was found empty: what is pushed next must begin anew.
    this.#isWriting = false
  }

  /**
   * Called for an error that is not one of the store's failures: a batch may be the cause. Stores each stream part separately and
   * drops those that fail. False when all fail: then it may be the store.
   */
  async #storeApart(batches: readonly MessageBatch[], delegations: EncodedDelegations): Promise<boolean> {
    const failed = new Map<StreamPartId, { readonly batches: MessageBatch[]; readonly error: unknown }>()
    let stored = 0
    for (const [id, some] of byStreamPart(batches)) {
      try {
        await this.#store.append(some, delegations)
        this.#take(some)
        this.#stored(some)
        stored++
      } catch (error) {
        if (!isStoreFailure(error)) failed.set(id, { batches: some, error })
      }
    }
    if (stored === 0 && (failed.size === 0 || this.#failuresInARow < maxFaultsInARow)) return false
    if (this.#failuresInARow > 1) this.#events.recovered()
    this.#failuresInARow = 0
    for (const [id, { batches: dropped, error }] of failed) {
      this.#counters.faults++
      this.#take(dropped)
      this.#events.fault(id, error)
      for (const batch of dropped) this.#miss(batch)
    }
    this.#resolveFlushes()
    return true
  }

  #chunkSize(): number {
    const { maxAppendBatches, maxAppendBytes } = this.#options.limits
    let total = 0
    let count = 0
    for (const { bytes } of this.#queue) {
      total += bytes
      if (count > 0 && (count >= maxAppendBatches || total > maxAppendBytes)) break
      count++
    }
    return count
  }

  /** Takes batches off the queue. */
  #take(batches: readonly MessageBatch[]): void {
    const taken = new Set(batches)
    this.#queue = this.#queue.filter(({ batch, bytes }) => {
      if (!taken.delete(batch)) return true
      this.#queuedBytes -= bytes
      return false
    })
    this.#done += batches.length
    if (this.#queue.length === 0) this.#isFull = false
  }

  #stored(batches: readonly MessageBatch[]): void {
    for (const batch of batches) {
      this.#counters.storedBatches++
      this.#counters.storedMessages += batch.messages.length
      this.#tellWaiting(batch)
    }
  }

  #resolveFlushes(): void {
    for (const flush of this.#flushes) {
      if (flush.upTo <= this.#done) flush.resolve()
    }
  }

  #tellWaiting(batch: MessageBatch): void {
    if (this.#awaited.size === 0) return
    for (const message of batch.messages) {
      const key = keyOf(message, message)
      const waiting = this.#awaited.get(key)
      if (waiting === undefined) continue
      this.#awaited.delete(key)
      for (const onStored of waiting) onStored()
    }
  }

  #pause(): Promise<void> {
    const { minStoreBackoffMs, maxStoreBackoffMs } = this.#options.limits
    const delayMs = backoffMs(this.#failuresInARow, minStoreBackoffMs, maxStoreBackoffMs)
    return new Promise((resolve) => {
      const cancel = this.#clock.schedule(delayMs, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }
}

/** The store says so itself: it is tried again. */
function isStoreFailure(error: unknown): boolean {
  return isRunnelError(error) && error.code !== 'INTERNAL'
}

function delegationsOf(queued: readonly Queued[]): EncodedDelegations {
  return new Map(
    queued.flatMap(({ batch: { delegationRef: ref }, delegation }) =>
      ref === undefined || delegation === undefined ? [] : [[ref, delegation] as const],
    ),
  )
}

function byStreamPart(batches: readonly MessageBatch[]): Map<StreamPartId, MessageBatch[]> {
  const parts = new Map<StreamPartId, MessageBatch[]>()
  for (const batch of batches) {
    const id = toStreamPartId(batch.chain.streamId, batch.chain.partition)
    const known = parts.get(id)
    if (known === undefined) parts.set(id, [batch])
    else known.push(batch)
  }
  return parts
}

function keyOf(chain: MessageChain, { timestamp, sequenceNumber }: MessageRef): string {
  const { streamId, partition, publisherId, messageChainId } = chain
  return `${streamId}#${partition} ${publisherId} ${timestamp} ${sequenceNumber} ${messageChainId}`
}
