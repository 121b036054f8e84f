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
  /** Those that claim to lead a stream part. */
  leads: number
}

export type Refusal = Extract<ClusterCounterName, `records${string}`>

const text = new TextDecoder()

/**
 * The newest valid record of each key, by writer. A distributed hash table compares nothing before it overwrites: here
 * is what refuses records that are forged, older than the known one, too large, or too many. Records cross the wire with
 * dates, so `wallMs` is one, in Unix milliseconds.
 */
export class RecordTable {
  readonly #limits: RecordLimits
  readonly #modules: RecordTableModules
  readonly #shelves = new Map<NodeId, Shelf>()

  constructor(limits: RecordLimits, modules: RecordTableModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Takes a record in; why not, when it is refused (counted under that name). The same one again is taken without ado. */
  offer(key: Uint8Array, bytes: Uint8Array, wallMs: number): Refusal | undefined {
    const outcome = this.#check(key, bytes, wallMs)
    if (typeof outcome === 'string') {
      this.#modules.count(outcome)
      return outcome
    }
    return undefined
  }

  /** The record under a key; undefined when there is none that is valid now. */
  get(writer: NodeId, key: string, wallMs: number): ClusterRecord | undefined {
    const record = this.#shelves.get(writer)?.entries.get(key)?.record
    return record !== undefined && record.expiresAt > wallMs && !this.#isAhead(record, wallMs)
      ? record
      : undefined
  }

  /** What a tracker last said of itself. */
  alive(id: NodeId, wallMs: number): (AliveBody & { readonly writtenAt: number }) | undefined {
    const record = this.get(id, `/runnel/alive/${id}`, wallMs)
    return record?.body.kind === 'alive' ? { ...record.body, writtenAt: record.writtenAt } : undefined
  }

  /** What some trackers last said of a stream part. */
  leads(streamPartId: StreamPartId, writers: readonly NodeId[], wallMs: number): Lead[] {
    return writers.flatMap((writer) => {
      const record = this.get(writer, leadKey(writer, streamPartId), wallMs)
      if (record?.body.kind !== 'lead') return []
      return [{ writer, writtenAt: record.writtenAt, chunks: record.body.chunks }]
    })
  }

  /** One share of a tracker's replica, as long as it is of the same division. */
  chunk(writer: NodeId, streamPartId: StreamPartId, chunk: number, chunks: number, wallMs: number) {
    const body = this.get(writer, topologyKey(writer, streamPartId, chunk), wallMs)?.body
    return body?.kind === 'topology' && body.chunks === chunks ? body : undefined
  }

  /** Stream parts that other trackers claim to lead; costs nothing with the number of records. */
  leadCount(except: NodeId): number {
    let count = 0
    for (const [writer, { leads }] of this.#shelves) if (writer !== except) count += leads
    return count
  }

  /** Drops all records of one tracker. */
  forget(writer: NodeId): void {
    this.#shelves.delete(writer)
  }

  /** Forgets what has expired or is dated ahead, and all of trackers that are not registered any more. */
  purge(wallMs: number): void {
    for (const [writer, shelf] of this.#shelves) {
      if (!this.#modules.isRegistered(writer)) {
        this.#shelves.delete(writer)
        continue
      }
      for (const [key, entry] of shelf.entries) {
        if (entry.record.expiresAt > wallMs && !this.#isAhead(entry.record, wallMs)) continue
        shelf.entries.delete(key)
        shelf.size -= entry.bytes.length
        shelf.leads -= leadsOf(entry)
      }
    }
  }

  #check(key: Uint8Array, bytes: Uint8Array, wallMs: number): Refusal | ClusterRecord {
    const { maxRecordBytes, maxRecordLifetimeMs, clockToleranceMs } = this.#limits
    if (bytes.length > maxRecordBytes) return 'recordsTooLarge'
    const known = this.#known(key)
    const current = known !== undefined && !this.#isAhead(known.record, wallMs) ? known : undefined
    if (current !== undefined && sameBytes(current.bytes, bytes))
      return current.record.expiresAt > wallMs ? current.record : 'recordsStale'
    let record: ClusterRecord
    try {
      record = decodeRecord(key, bytes, this.#modules.crypto)
    } catch (error) {
      return refusalOf(error)
    }
    if (!this.#modules.isRegistered(record.writer)) return 'recordsOfStrangers'
    if (record.expiresAt <= wallMs) return 'recordsStale'
    if (this.#isAhead(record, wallMs)) return 'recordsTooFar'
    if (record.expiresAt > wallMs + maxRecordLifetimeMs + clockToleranceMs) return 'recordsTooFar'
    if (current !== undefined && current.record.writtenAt >= record.writtenAt) return 'recordsStale'
    return this.#keep(text.decode(key), record, bytes, known)
  }

  /** The writer's clock is ahead; or it was, and ours with it, and the two have been set back. */
  #isAhead({ writtenAt }: ClusterRecord, wallMs: number): boolean {
    return writtenAt > wallMs + this.#limits.clockToleranceMs
  }

  #keep(
    key: string,
    record: ClusterRecord,
    bytes: Uint8Array,
    known: Entry | undefined,
  ): Refusal | ClusterRecord {
    const { maxRecordsPerTracker, maxRecordBytesPerTracker } = this.#limits
    const shelf = this.#shelves.get(record.writer) ?? { entries: new Map<string, Entry>(), size: 0, leads: 0 }
    const size = shelf.size - (known?.bytes.length ?? 0) + bytes.length
    if (size > maxRecordBytesPerTracker) return 'recordsTooMany'
    if (known === undefined && shelf.entries.size >= maxRecordsPerTracker) return 'recordsTooMany'
    const entry = { record, bytes: bytes.slice() }
    shelf.size = size
    shelf.leads += leadsOf(entry) - leadsOf(known)
    shelf.entries.set(key, entry)
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

/** 1 for the claim to lead a stream part, otherwise 0. */
function leadsOf(entry: Entry | undefined): number {
  const body = entry?.record.body
  return body?.kind === 'lead' && body.chunks > 0 ? 1 : 0
}

function refusalOf(error: unknown): Refusal {
  if (isRunnelError(error, 'CLUSTER_RECORD_UNKNOWN')) return 'recordsUnknown'
  return isRunnelError(error, 'CLUSTER_RECORD_FORGED') ? 'recordsForged' : 'recordsMalformed'
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
