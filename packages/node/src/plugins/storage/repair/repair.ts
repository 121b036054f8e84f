import type { RunnelClient, StorageNodeInfo } from '@runnel/client'
import {
  parseStreamPartId,
  type Cancel,
  type Clock,
  type MessageBatch,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { StorageLimits } from '../storage-limits.ts'
import type { MessageStore } from '../store/message-store.ts'
import { nextTurn, oneAtATime } from '../waiting.ts'
import type { RepairMarks } from './repair-marks.ts'
import type { RepairSource } from './repair-source.ts'

export interface RepairOptions {
  readonly intervalMs: number
  readonly limits: Pick<StorageLimits, 'repairMarginMs' | 'settleMs' | 'maxAppendBytes' | 'maxAppendBatches'>
}

export interface RepairModules {
  readonly client: Pick<RunnelClient, 'nodeId' | 'getStorageNodes'>
  readonly store: Pick<MessageStore, 'append'>
  readonly marks: RepairMarks
  readonly source: RepairSource
  readonly clock: Clock
  /** A batch that may be stored, or undefined. */
  readonly check: (bytes: Uint8Array, streamPartId: StreamPartId) => Promise<MessageBatch | undefined>
  /** The oldest time of which messages are kept. */
  readonly oldestMs: (streamPartId: StreamPartId) => Promise<number>
  readonly events: {
    repaired(streamPartId: StreamPartId, from: NodeId, batches: number): void
    failed(streamPartId: StreamPartId, from: NodeId | undefined, error: unknown): void
  }
}

export interface RepairStatus {
  /** Stream parts that may miss something. */
  readonly incompleteParts: number
  readonly copiedBatches: number
  readonly refusedBatches: number
  readonly failures: number
}

/** Fetches from the other storage nodes what this one may have missed. One stream part at a time: it is not urgent. */
export class Repair {
  readonly #options: RepairOptions
  readonly #modules: RepairModules
  /** From when on something may be missing. */
  readonly #missing = new Map<StreamPartId, number>()
  readonly #controller = new AbortController()
  readonly #counters = { copiedBatches: 0, refusedBatches: 0, failures: 0 }
  /** Storage nodes that could not be asked, by stream part. */
  readonly #unasked = new Set<StreamPartId>()
  readonly #lonelySinceMs = new Map<StreamPartId, number>()
  #cancel: Cancel = () => {}

  constructor(options: RepairOptions, modules: RepairModules) {
    this.#options = options
    this.#modules = modules
  }

  /** A stream part is kept from now on. */
  async joined(streamPartId: StreamPartId): Promise<void> {
    const { marks, clock } = this.#modules
    this.#lonelySinceMs.set(streamPartId, clock.now())
    const sinceMs = await marks.missingSince(streamPartId)
    await this.missed(streamPartId, sinceMs - this.#options.limits.repairMarginMs)
    this.#schedule(this.#options.limits.settleMs)
  }

  async left(streamPartId: StreamPartId): Promise<void> {
    const { marks, clock } = this.#modules
    const sinceMs = this.#missing.get(streamPartId) ?? clock.now()
    this.#missing.delete(streamPartId)
    this.#unasked.delete(streamPartId)
    this.#lonelySinceMs.delete(streamPartId)
    await marks.setPart(streamPartId, sinceMs)
  }

  /** To be told of the neighbours of a stream part: without any, nothing arrives. */
  async neighboursChanged(streamPartId: StreamPartId, count: number): Promise<void> {
    const lonelySinceMs = this.#lonelySinceMs.get(streamPartId)
    if (count === 0) {
      this.#lonelySinceMs.set(streamPartId, lonelySinceMs ?? this.#modules.clock.now())
      return
    }
    this.#lonelySinceMs.delete(streamPartId)
    if (lonelySinceMs === undefined) return
    await this.missed(streamPartId, lonelySinceMs - this.#options.limits.repairMarginMs)
    this.#schedule(0)
  }

  /** Something of this time and after may be missing. It is fetched with the next round. */
  async missed(streamPartId: StreamPartId, sinceMs: number): Promise<void> {
    const from = Math.max(0, sinceMs)
    if ((this.#missing.get(streamPartId) ?? Infinity) <= from) return
    this.#missing.set(streamPartId, from)
    await this.#modules.marks.setPart(streamPartId, from)
  }

  status(): RepairStatus {
    return { incompleteParts: new Set([...this.#missing.keys(), ...this.#unasked]).size, ...this.#counters }
  }

  /** Begins the rounds. */
  start(): void {
    this.#schedule(this.#options.intervalMs)
  }

  /** A round now, or after the one that is under way. Never rejects. */
  readonly run = oneAtATime(() => this.#round())

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#controller.abort()
    this.#cancel()
    await this.run()
  }

  #schedule(delayMs: number): void {
    this.#cancel()
    if (this.#controller.signal.aborted) return
    this.#cancel = this.#modules.clock.schedule(delayMs, () => {
      void this.run().then(() => this.#schedule(this.#options.intervalMs))
    })
  }

  async #round(): Promise<void> {
    for (const streamPartId of new Set([...this.#missing.keys(), ...this.#unasked])) {
      if (this.#controller.signal.aborted) return
      try {
        await this.#repairPart(streamPartId)
      } catch (error) {
        this.#fail(streamPartId, undefined, error)
      }
    }
  }

  async #repairPart(streamPartId: StreamPartId): Promise<void> {
    const { client, marks, clock } = this.#modules
    const missingSinceMs = this.#missing.get(streamPartId)
    const nowMs = clock.now()
    const { streamId } = parseStreamPartId(streamPartId)
    const nodes = await client.getStorageNodes(streamId)
    let isAnyUnasked = false
    for (const node of nodes) {
      if (node.nodeId === client.nodeId) continue
      const unaskedMs = await marks.unasked(streamPartId, node.nodeId)
      const sinceMs = Math.min(missingSinceMs ?? Infinity, unaskedMs ?? Infinity)
      if (sinceMs === Infinity) continue
      const isDone = await this.#copy(streamPartId, node, sinceMs, nowMs)
      if (!isDone) isAnyUnasked = true
      await marks.setUnasked(streamPartId, node.nodeId, isDone ? undefined : sinceMs)
    }
    if (isAnyUnasked) this.#unasked.add(streamPartId)
    else this.#unasked.delete(streamPartId)
    // What was found missing meanwhile is for the next round.
    if (this.#missing.get(streamPartId) !== missingSinceMs || missingSinceMs === undefined) return
    this.#missing.delete(streamPartId)
    await marks.setPart(streamPartId, undefined)
  }

  async #copy(
    streamPartId: StreamPartId,
    node: StorageNodeInfo,
    sinceMs: number,
    nowMs: number,
  ): Promise<boolean> {
    const { source, store, events, oldestMs, clock } = this.#modules
    const { maxAppendBytes, maxAppendBatches, repairMarginMs } = this.#options.limits
    let copied = 0
    let chunk: MessageBatch[] = []
    let chunkBytes = 0
    const flush = async () => {
      if (chunk.length > 0) await store.append(chunk)
      copied += chunk.length
      this.#counters.copiedBatches += chunk.length
      chunk = []
      chunkBytes = 0
    }
    try {
      const from = { timestamp: Math.max(sinceMs, await oldestMs(streamPartId)), sequenceNumber: 0 }
      // Publishers' clocks may be ahead.
      const to = { timestamp: nowMs + repairMarginMs, sequenceNumber: 0xffffffff }
      for await (const bytes of source.read(node, { streamPartId, from, to }, this.#controller.signal)) {
        const batch = await this.#modules.check(bytes, streamPartId)
        if (batch === undefined) {
          this.#counters.refusedBatches++
          continue
        }
        chunk.push(batch)
        chunkBytes += bytes.length
        if (chunk.length < maxAppendBatches && chunkBytes < maxAppendBytes / 4) continue
        await flush()
        await nextTurn(clock)
      }
      await flush()
      if (copied > 0) events.repaired(streamPartId, node.nodeId, copied)
      return true
    } catch (error) {
      if (!this.#controller.signal.aborted) this.#fail(streamPartId, node.nodeId, error)
      return false
    }
  }

  #fail(streamPartId: StreamPartId, from: NodeId | undefined, error: unknown): void {
    this.#counters.failures++
    this.#modules.events.failed(streamPartId, from, error)
  }
}
