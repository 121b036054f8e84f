import type { RunnelClient } from '@runnel/client'
import {
  isRunnelError,
  parseStreamPartId,
  toStreamPartId,
  type Cancel,
  type Clock,
  type StreamPartId,
} from '@runnel/protocol'
import type { StorageLimits } from './storage-limits.ts'
import { oneAtATime } from './waiting.ts'

export interface KeptPartsOptions {
  readonly maxStreamParts: number
  readonly limits: Pick<StorageLimits, 'minRegistryBackoffMs' | 'maxRegistryBackoffMs'>
}

export interface KeptPartsModules {
  readonly client: Pick<RunnelClient, 'nodeId' | 'getStream' | 'joinStreamPart' | 'streamsStoredBy'>
  readonly network: Pick<RunnelClient['network'], 'offerStorage'>
  readonly clock: Clock
  readonly events: {
    /** The stream part is joined: what floods in it is to be stored from now on. */
    joined(streamPartId: StreamPartId): void
    left(streamPartId: StreamPartId): void
    /** So many are assigned that some are not kept. */
    tooMany(ignored: number): void
    /** Tried again by itself. */
    failed(error: unknown): void
  }
}

/** The stream parts this node was asked to keep, joined as the registry says. */
export class KeptParts {
  readonly #options: KeptPartsOptions
  readonly #modules: KeptPartsModules
  readonly #releases = new Map<StreamPartId, () => void>()
  #stopped = false
  #failuresInARow = 0
  #cancelRetry: Cancel = () => {}
  /** Assigned and not kept, because there are too many. */
  ignored = 0

  constructor(options: KeptPartsOptions, modules: KeptPartsModules) {
    this.#options = options
    this.#modules = modules
  }

  has(streamPartId: StreamPartId): boolean {
    return this.#releases.has(streamPartId)
  }

  get ids(): readonly StreamPartId[] {
    return [...this.#releases.keys()]
  }

  /** Reads the assignments again, now or after the reading that is under way. Never rejects. */
  readonly refresh = oneAtATime(() => this.#refresh())

  /** Leaves everything. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelRetry()
    await this.refresh()
    for (const streamPartId of this.ids) this.#leave(streamPartId)
  }

  async #refresh(): Promise<void> {
    if (this.#stopped) return
    this.#cancelRetry()
    try {
      await this.#read()
      this.#failuresInARow = 0
    } catch (error) {
      if (this.#stopped) return
      this.#failuresInARow++
      this.#modules.events.failed(error)
      this.#retryLater()
    }
  }

  async #read(): Promise<void> {
    const wanted = await this.#wanted()
    const allowed = wanted.slice(0, this.#options.maxStreamParts)
    const ignored = wanted.length - allowed.length
    if (ignored > 0 && ignored !== this.ignored) this.#modules.events.tooMany(ignored)
    this.ignored = ignored
    const kept = new Set(allowed)
    for (const streamPartId of this.ids) if (!kept.has(streamPartId)) this.#leave(streamPartId)
    const failures: unknown[] = []
    for (const streamPartId of allowed) {
      if (!this.has(streamPartId)) await this.#join(streamPartId).catch((error) => failures.push(error))
    }
    // The others are joined all the same.
    if (failures.length > 0) throw failures[0]
  }

  async #wanted(): Promise<StreamPartId[]> {
    const { client } = this.#modules
    const parts: StreamPartId[] = []
    for (const streamId of await client.streamsStoredBy(client.nodeId)) {
      try {
        const { partitions } = await client.getStream(streamId)
        for (let partition = 0; partition < partitions; partition++) {
          parts.push(toStreamPartId(streamId, partition))
        }
      } catch (error) {
        // Deleted since the assignments were read.
        if (!isRunnelError(error, 'STREAM_NOT_FOUND')) throw error
      }
    }
    return parts
  }

  async #join(streamPartId: StreamPartId): Promise<void> {
    const { client, network, events } = this.#modules
    const { streamId, partition } = parseStreamPartId(streamPartId)
    const release = await client.joinStreamPart(streamId, partition)
    if (this.#stopped) {
      release()
      return
    }
    this.#releases.set(streamPartId, release)
    network.offerStorage(streamPartId, true)
    events.joined(streamPartId)
  }

  #leave(streamPartId: StreamPartId): void {
    const { network, events } = this.#modules
    network.offerStorage(streamPartId, false)
    this.#releases.get(streamPartId)?.()
    this.#releases.delete(streamPartId)
    events.left(streamPartId)
  }

  #retryLater(): void {
    const { minRegistryBackoffMs, maxRegistryBackoffMs } = this.#options.limits
    const delayMs = Math.min(maxRegistryBackoffMs, minRegistryBackoffMs * 2 ** (this.#failuresInARow - 1))
    this.#cancelRetry = this.#modules.clock.schedule(delayMs, () => void this.refresh())
  }
}
