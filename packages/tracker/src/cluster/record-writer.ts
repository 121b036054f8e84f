import type { Clock, Crypto, Identity } from '@runnel/protocol'
import type { ClusterCounterName } from './core/cluster-counters.ts'
import type { FaultModules } from './core/isolated.ts'
import { encodeRecord, recordKey, type RecordBody } from './core/record.ts'
import type { ClusterLimits } from './limits.ts'

export interface RecordWriterModules extends FaultModules {
  readonly identity: Identity
  readonly crypto: Crypto
  readonly clock: Clock
  /** Resolves to the number of other trackers that accepted it. */
  put(key: Uint8Array, value: Uint8Array, signal: AbortSignal): Promise<number>
  /** The record is written here first. */
  keep(key: Uint8Array, value: Uint8Array): void
  count(name: ClusterCounterName): void
}

const utf8 = new TextEncoder()

/** Signs this tracker's records and puts them into the hash table, a few at once; of one key only the newest. */
export class RecordWriter {
  readonly #limits: ClusterLimits
  readonly #modules: RecordWriterModules
  readonly #waiting = new Map<string, RecordBody>()
  #running = 0
  #lastWrittenAt = 0

  constructor(limits: ClusterLimits, modules: RecordWriterModules) {
    this.#limits = limits
    this.#modules = modules
  }

  write(body: RecordBody): void {
    this.#waiting.set(recordKey(this.#modules.identity.nodeId, body), body)
    while (this.#running < this.#limits.maxWritesAtOnce && this.#waiting.size > 0) {
      this.#running++
      void this.#drain().finally(() => this.#running--)
    }
  }

  /** Drops waiting records. */
  clear(): void {
    this.#waiting.clear()
  }

  async #drain(): Promise<void> {
    for (const [key, body] of this.#waiting) {
      this.#waiting.delete(key)
      try {
        await this.#put(utf8.encode(key), body)
      } catch (error) {
        this.#modules.count('writesFailed')
        this.#modules.fault(body.kind === 'alive' ? {} : { streamPartId: body.streamPartId }, error)
      }
    }
  }

  async #put(key: Uint8Array, body: RecordBody): Promise<void> {
    const { identity, crypto, clock, keep, put, count } = this.#modules
    const { aliveLifetimeMs, replicaLifetimeMs, writeTimeoutMs, clockToleranceMs } = this.#limits
    const wallMs = clock.now()
    // Others refuse records dated too far ahead: after the clock was set back, what was written before no longer counts.
    const isSetBack = this.#lastWrittenAt > wallMs + clockToleranceMs
    const writtenAt = isSetBack ? wallMs : Math.max(wallMs, this.#lastWrittenAt + 1)
    this.#lastWrittenAt = writtenAt
    const expiresAt = writtenAt + (body.kind === 'alive' ? aliveLifetimeMs : replicaLifetimeMs)
    const value = encodeRecord({ writer: identity.nodeId, writtenAt, expiresAt, body }, identity, crypto)
    keep(key, value)
    const taken = await put(key, value, AbortSignal.timeout(writeTimeoutMs)).catch(() => 0)
    count(taken > 0 ? 'recordsWritten' : 'writesFailed')
  }
}
