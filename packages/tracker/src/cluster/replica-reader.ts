import type { NodeId, StreamPartId } from '@runnel/protocol'
import { Replica } from '../core/replica.ts'
import { believedLead, type Heir } from './core/believed-lead.ts'
import { leadKey, topologyKey } from './core/record.ts'
import type { RecordTable } from './core/record-table.ts'
import type { ClusterLimits } from './limits.ts'

export interface ReplicaReaderModules {
  readonly table: RecordTable
  /** Fetches a record; a valid one is put into the table. */
  fetch(key: Uint8Array, signal: AbortSignal): Promise<unknown>
  /** Unix milliseconds. */
  now(): number
}

const utf8 = new TextEncoder()

/** Finds the replica that the last leader of a stream part left: locally first, where most of it is, else with the others. */
export class ReplicaReader {
  readonly #limits: Pick<ClusterLimits, 'readTimeoutMs' | 'maxChunks' | 'maxLookups'>
  readonly #modules: ReplicaReaderModules
  #reading = 0

  constructor(
    limits: Pick<ClusterLimits, 'readTimeoutMs' | 'maxChunks' | 'maxLookups'>,
    modules: ReplicaReaderModules,
  ) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Whether there is one that is stored here, at least its first share. */
  has(id: StreamPartId, writers: readonly NodeId[], heir: Heir): boolean {
    const { table, now } = this.#modules
    const lead = this.#lead(id, writers, heir)
    return lead !== undefined && table.chunk(lead.writer, id, 0, lead.chunks, now()) !== undefined
  }

  /** The trusted replica that is stored here, by one of some trackers; undefined when there is none. */
  local(id: StreamPartId, writers: readonly NodeId[], heir: Heir): Replica | undefined {
    const { table, now } = this.#modules
    const lead = this.#lead(id, writers, heir)
    if (lead === undefined) return undefined
    const nodes = []
    for (let chunk = 0; chunk < Math.min(lead.chunks, this.#limits.maxChunks); chunk++)
      nodes.push(...(table.chunk(lead.writer, id, chunk, lead.chunks, now())?.nodes ?? []))
    return nodes.length === 0 ? undefined : new Replica(nodes)
  }

  /** Like `local`, after asking all trackers for what those have written. Never rejects. */
  async remote(id: StreamPartId, writers: readonly NodeId[], heir: Heir): Promise<Replica | undefined> {
    if (this.#reading >= this.#limits.maxLookups) return undefined
    this.#reading++
    try {
      const signal = AbortSignal.timeout(this.#limits.readTimeoutMs)
      await this.#fetchAll(
        writers.map((writer) => leadKey(writer, id)),
        signal,
      )
      const lead = this.#lead(id, writers, heir)
      if (lead === undefined) return undefined
      const chunks = Array.from(
        { length: Math.min(lead.chunks, this.#limits.maxChunks) },
        (_, chunk) => chunk,
      )
      await this.#fetchAll(
        chunks.map((chunk) => topologyKey(lead.writer, id, chunk)),
        signal,
      )
      return this.local(id, writers, heir)
    } finally {
      this.#reading--
    }
  }

  /** By what is stored here. */
  #lead(id: StreamPartId, writers: readonly NodeId[], heir: Heir) {
    const { table, now } = this.#modules
    return believedLead(table.leads(id, writers, now()), heir)
  }

  async #fetchAll(keys: readonly string[], signal: AbortSignal): Promise<void> {
    await Promise.allSettled(keys.map((key) => this.#modules.fetch(utf8.encode(key), signal)))
  }
}
