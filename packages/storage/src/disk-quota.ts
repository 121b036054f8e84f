import {
  oneAtATime,
  toStreamPartId,
  type MessageBatch,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { planQuota, type DiskCaps } from './quota-plan.ts'
import { streamOf } from './share-out.ts'
import type { MessageStore } from './store/message-store.ts'
import {
  countedBytes,
  delegationOf,
  noDelegations,
  type EncodedDelegations,
} from './store/stored-delegations.ts'

export interface QuotaStatus {
  /** Bytes of batches, about. */
  readonly storedBytes: number
  readonly maxBytes: number
  readonly maxBytesPerStream: number
  /** Deleted because there was no room. */
  readonly evictedBatches: number
  readonly evictedBytes: number
}

type QuotaStore = Pick<MessageStore, 'append' | 'usage' | 'prune' | 'getMark' | 'setMark'>

/**
 * Makes room in the store before batches are added, so that the caps hold. Counts what is added as it arrives, and reads the
 * sizes from the store again before it deletes, so that they are right after a restart and when other nodes write to the same
 * cluster. Sizes are those of batches (`countedBytes`); the engine's overhead comes on top, and with tiny batches about doubles them.
 */
export class DiskQuota {
  readonly #caps: DiskCaps
  readonly #store: QuotaStore
  /** As read last, and what was added since. */
  #stored = new Tally()
  /** Added since the reading began that is under way: it may not be in what is read. */
  #added = new Tally()
  #isRead = false
  /** Being added: not in the store, or just so. */
  readonly #pending = new Tally()
  /** Of parts that had to give way, or have more than they may: what began before is gone. */
  readonly #goneBeforeMs = new Map<StreamPartId, number>()
  readonly #counters = { evictedBatches: 0, evictedBytes: 0 }

  constructor(caps: DiskCaps, modules: { readonly store: QuotaStore }) {
    this.#caps = caps
    this.#store = modules.store
  }

  status(): QuotaStatus {
    const { maxBytes, maxBytesPerStream } = this.#caps
    return { storedBytes: this.#stored.total, maxBytes, maxBytesPerStream, ...this.#counters }
  }

  /** As the store's, once there is room. Throws what the store throws. */
  readonly append = async (
    batches: readonly MessageBatch[],
    delegations: EncodedDelegations = noDelegations,
  ): Promise<void> => {
    const sizes = batches.map((batch) => {
      return { part: partOf(batch), bytes: countedBytes(batch, delegationOf(batch, delegations)) }
    })
    for (const { part, bytes } of sizes) this.#pending.add(part, bytes)
    try {
      if (!this.#isRead || this.#isOver(batches)) await this.#makeRoom()
      await this.#store.append(batches, delegations)
      for (const { part, bytes } of sizes) {
        this.#stored.add(part, bytes)
        this.#added.add(part, bytes)
      }
    } finally {
      for (const { part, bytes } of sizes) this.#pending.add(part, -bytes)
    }
  }

  /** What began before this time was deleted for its bytes; 0 when nothing was. Throws what the store throws. */
  async goneBeforeMs(streamPartId: StreamPartId): Promise<number> {
    const known = this.#goneBeforeMs.get(streamPartId)
    if (known !== undefined) return known
    const ms = Number((await this.#store.getMark(markOf(streamPartId))) ?? 0)
    this.#goneBeforeMs.set(streamPartId, ms)
    return ms
  }

  /** As the store's; what had to go for `maxBytes` is known to be gone. Throws what the store throws. */
  readonly prune: MessageStore['prune'] = async (streamPartId, limits) => {
    const pruned = await this.#store.prune(streamPartId, limits)
    if (pruned.goneBeforeMs !== undefined) await this.#noteGone(streamPartId, pruned.goneBeforeMs)
    return pruned
  }

  #isOver(batches: readonly MessageBatch[]): boolean {
    const { maxBytes, maxBytesPerStream } = this.#caps
    if (this.#stored.total + this.#pending.total > maxBytes) return true
    const streams = new Set(batches.map(({ chain }) => chain.streamId))
    const ofStream = (id: StreamId) => this.#stored.ofStream(id) + this.#pending.ofStream(id)
    return [...streams].some((id) => ofStream(id) > maxBytesPerStream)
  }

  #plan(): ReadonlyMap<StreamPartId, number> {
    const ids = new Set([...this.#stored.parts.keys(), ...this.#pending.parts.keys()])
    const parts = [...ids].map((streamPartId) => ({
      streamPartId,
      bytes: this.#stored.parts.get(streamPartId) ?? 0,
      addedBytes: this.#pending.parts.get(streamPartId) ?? 0,
    }))
    return planQuota(parts, this.#caps)
  }

  readonly #makeRoom = oneAtATime(async () => {
    await this.#read()
    const plan = this.#plan()
    if (plan.size === 0) return
    for (const [streamPartId, keptBytes] of plan) {
      const { batches, bytes } = await this.prune(streamPartId, { maxBytes: keptBytes })
      this.#counters.evictedBatches += batches
      this.#counters.evictedBytes += bytes
    }
    await this.#read()
  })

  async #read(): Promise<void> {
    this.#added = new Tally()
    const usage = await this.#store.usage()
    this.#stored = this.#added
    this.#added = new Tally()
    for (const { streamPartId, bytes } of usage) this.#stored.add(streamPartId, bytes)
    this.#isRead = true
  }

  async #noteGone(streamPartId: StreamPartId, beforeMs: number): Promise<void> {
    if (beforeMs <= (await this.goneBeforeMs(streamPartId))) return
    this.#goneBeforeMs.set(streamPartId, beforeMs)
    await this.#store.setMark(markOf(streamPartId), String(beforeMs))
  }
}

/** Not by node: nodes that share a cluster share its deletions. */
function markOf(streamPartId: StreamPartId): string {
  return `gone ${streamPartId}`
}

function partOf({ chain }: MessageBatch): StreamPartId {
  return toStreamPartId(chain.streamId, chain.partition)
}

/** Bytes by stream part, and their sums. */
class Tally {
  readonly parts = new Map<StreamPartId, number>()
  readonly #streams = new Map<StreamId, number>()
  total = 0

  ofStream(streamId: StreamId): number {
    return this.#streams.get(streamId) ?? 0
  }

  add(streamPartId: StreamPartId, bytes: number): void {
    this.total += bytes
    addTo(this.parts, streamPartId, bytes)
    addTo(this.#streams, streamOf(streamPartId), bytes)
  }
}

function addTo<K>(sums: Map<K, number>, key: K, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes
  if (sum === 0) sums.delete(key)
  else sums.set(key, sum)
}
