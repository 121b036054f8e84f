import { isRunnelError, type Crypto, type NodeId, type StreamPartId } from '@runnel/protocol'
import type { ClusterLimits } from '../limits.ts'
import type { Lead } from './believed-lead.ts'
import type { ClusterCounterName } from './cluster-counters.ts'
import { decodeRecord, leadKey, topologyKey, type AliveBody, type ClusterRecord } from './record.ts'

export type RecordLimits = Pick<
  ClusterLimits,
  | 'maxRecordBytes'
  | 'maxRecordsPerTracker'
  | 'maxRecordBytesPerTracker'
  | 'maxRecordLifetimeMs'
  | 'clockToleranceMs'
>

export interface RecordTableModules {
  readonly crypto: Crypto
  isRegistered(id: NodeId): boolean
  count(name: ClusterCounterName): void
  /** A new record was accepted. */
  onAccepted?(record: ClusterRecord): void
}

interface Entry {
  readonly record: ClusterRecord
  readonly bytes: Uint8Array
}

/** What one tracker has in the table. */
interface Shelf {
  readonly entries: Map<string, Entry>
  size: number
}

export type Refusal = Extract<ClusterCounterName, `records${string}`>

const text = new TextDecoder()

/**
 * The newest valid record of each key, by writer. A distributed hash table compares nothing before it overwrites: this table
 * refuses records that are forged, older than the known one, too large, or too many. Records cross the wire with dates, so
 * `now` is one, in Unix milliseconds.
 */
export class RecordTable {
  readonly #limits: RecordLimits
  readonly #modules: RecordTableModules
  readonly #shelves = new Map<NodeId, Shelf>()

  constructor(limits: RecordLimits, modules: RecordTableModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Takes a record. Returns the reason when it is refused (counted under that name). Accepts the same one again. */
  offer(key: Uint8Array, bytes: Uint8Array, now: number): Refusal | undefined {
    const outcome = this.#check(key, bytes, now)
    if (typeof outcome === 'string') {
      this.#modules.count(outcome)
      return outcome
    }
    return undefined
  }

  /** The record under a key; undefined when there is no valid one now. */
  get(writer: NodeId, key: string, now: number): ClusterRecord | undefined {
    const record = this.#shelves.get(writer)?.entries.get(key)?.record
    return record !== undefined && record.expiresAt > now && !this.#isAhead(record, now) ? record : undefined
  }

  /** What a tracker last reported of itself. */
  alive(id: NodeId, now: number): (AliveBody & { readonly writtenAt: number }) | undefined {
    const record = this.get(id, `/runnel/alive/${id}`, now)
    return record?.body.kind === 'alive' ? { ...record.body, writtenAt: record.writtenAt } : undefined
  }

  /** What some trackers last reported of a stream part. */
  leads(streamPartId: StreamPartId, writers: readonly NodeId[], now: number): Lead[] {
    return writers.flatMap((writer) => {
      const record = this.get(writer, leadKey(writer, streamPartId), now)
      if (record?.body.kind !== 'lead') return []
      return [{ writer, writtenAt: record.writtenAt, chunks: record.body.chunks }]
    })
  }

  /** One chunk of a tracker's replica, provided it belongs to the same division into chunks. */
  chunk(writer: NodeId, streamPartId: StreamPartId, chunk: number, chunks: number, now: number) {
    const body = this.get(writer, topologyKey(writer, streamPartId, chunk), now)?.body
    return body?.kind === 'topology' && body.chunks === chunks ? body : undefined
  }

  /** Stream parts that other trackers claim to lead. */
  leadCount(except: NodeId): number {
    let count = 0
    for (const [writer, { entries }] of this.#shelves) {
      if (writer === except) continue
      for (const { record } of entries.values())
        if (record.body.kind === 'lead' && record.body.chunks > 0) count++
    }
    return count
  }

  /** Drops all records of one tracker. */
  forget(writer: NodeId): void {
    this.#shelves.delete(writer)
  }

  /** Drops records that have expired or are dated ahead, and all of trackers that are no longer registered. */
  purge(now: number): void {
    for (const [writer, shelf] of this.#shelves) {
      if (!this.#modules.isRegistered(writer)) {
        this.#shelves.delete(writer)
        continue
      }
      for (const [key, entry] of shelf.entries) {
        if (entry.record.expiresAt > now && !this.#isAhead(entry.record, now)) continue
        shelf.entries.delete(key)
        shelf.size -= entry.bytes.length
      }
    }
  }

  #check(key: Uint8Array, bytes: Uint8Array, now: number): Refusal | ClusterRecord {
    const { maxRecordBytes, maxRecordLifetimeMs, clockToleranceMs } = this.#limits
    if (bytes.length > maxRecordBytes) return 'recordsTooLarge'
    const known = this.#known(key)
    const current = known !== undefined && !this.#isAhead(known.record, now) ? known : undefined
    if (current !== undefined && sameBytes(current.bytes, bytes))
      return current.record.expiresAt > now ? current.record : 'recordsStale'
    let record: ClusterRecord
    try {
      record = decodeRecord(key, bytes, this.#modules.crypto)
    } catch (error) {
      return refusalOf(error)
    }
    if (!this.#modules.isRegistered(record.writer)) return 'recordsOfStrangers'
    if (record.expiresAt <= now) return 'recordsStale'
    if (this.#isAhead(record, now)) return 'recordsTooFar'
    if (record.expiresAt > now + maxRecordLifetimeMs + clockToleranceMs) return 'recordsTooFar'
    if (current !== undefined && current.record.writtenAt >= record.writtenAt) return 'recordsStale'
    return this.#keep(text.decode(key), record, bytes, known)
  }

  /** The writer's clock is ahead; or it was, and ours with it, and both have been set back. */
  #isAhead({ writtenAt }: ClusterRecord, now: number): boolean {
    return writtenAt > now + this.#limits.clockToleranceMs
  }

  #keep(
    key: string,
    record: ClusterRecord,
    bytes: Uint8Array,
    known: Entry | undefined,
  ): Refusal | ClusterRecord {
    const { maxRecordsPerTracker, maxRecordBytesPerTracker } = this.#limits
    const shelf = this.#shelves.get(record.writer) ?? { entries: new Map<string, Entry>(), size: 0 }
    const size = shelf.size - (known?.bytes.length ?? 0) + bytes.length
    if (size > maxRecordBytesPerTracker) return 'recordsTooMany'
    if (known === undefined && shelf.entries.size >= maxRecordsPerTracker) return 'recordsTooMany'
    shelf.size = size
    shelf.entries.set(key, { record, bytes: bytes.slice() })
    this.#shelves.set(record.writer, shelf)
    this.#modules.count('recordsAccepted')
    this.#modules.onAccepted?.(record)
    return record
  }

  /** The writer is the third segment of every key. */
  #known(key: Uint8Array): Entry | undefined {
    const name = text.decode(key)
    return this.#shelves.get(name.split('/')[3] as NodeId)?.entries.get(name)
  }
}

function refusalOf(error: unknown): Refusal {
  if (isRunnelError(error, 'CLUSTER_RECORD_UNKNOWN')) return 'recordsUnknown'
  return isRunnelError(error, 'CLUSTER_RECORD_FORGED') ? 'recordsForged' : 'recordsMalformed'
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
