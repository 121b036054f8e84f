import type { RunnelClient } from '@runnel/client'
import {
  backoffMs,
  isKeyPart,
  isRunnelError,
  keyPartition,
  oneAtATime,
  parseStreamPartId,
  toStreamPartId,
  type Cancel,
  type Clock,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { inOrderOf, isWelcome, ownerOf, shareOut, streamOf, type OwnerLists } from './share-out.ts'
import type { StorageLimits } from './storage-limits.ts'

export interface KeptPartsOptions {
  readonly maxStreamParts: number
  readonly owners: OwnerLists
  readonly limits: Pick<StorageLimits, 'minRegistryBackoffMs' | 'maxRegistryBackoffMs' | 'lookBackMs'>
}

export interface KeptPartsModules {
  readonly client: Pick<RunnelClient, 'nodeId' | 'getStream' | 'joinStreamPart' | 'streamsStoredBy'>
  readonly network: Pick<RunnelClient['network'], 'offerStorage'>
  readonly clock: Clock
  /** What was kept when the node ran last, in the order in which it came to be; outlasts the process. */
  readonly memory: {
    load(): Promise<readonly StreamPartId[]>
    save(streamPartIds: readonly StreamPartId[]): void
  }
  readonly events: {
    /** The stream part is joined: store what floods in it from now on. */
    joined(streamPartId: StreamPartId): void
    left(streamPartId: StreamPartId): void
    /** So many are assigned that some are not kept: stream parts of these owners, most first. */
    tooMany(ignored: number, owners: readonly string[]): void
    /** Streams are assigned whose owners are not wanted. */
    unwelcome(streams: number): void
    /** Tried again by itself. */
    failed(error: unknown): void
  }
}

/** Owners named in one report. */
const maxNamedOwners = 5

/**
 * The stream parts assigned to this node, joined as the registry says. Anybody may assign a stream. What is kept stays, even
 * after a restart. With a stream comes its key part, which counts nothing. Each owner of streams has its share of the room (`shareOut`), so that an owner with many takes nothing from
 * owners with few.
 */
export class KeptParts {
  readonly #options: KeptPartsOptions
  readonly #modules: KeptPartsModules
  readonly #releases = new Map<StreamPartId, () => void>()
  /** In the order in which they came. Undefined until it is known what was kept before. */
  #order: readonly StreamPartId[] | undefined
  /** Those that are to be kept; they are joined one after the other. Undefined until the assignments were read. */
  #wanted: ReadonlySet<StreamPartId> | undefined
  /** Assigned, but not kept completely. */
  #refused: ReadonlySet<StreamId> = new Set()
  #stopped = false
  #failuresInARow = 0
  #cancelRetry: Cancel = () => {}
  /** Assigned stream parts that are not kept, because there are too many. Of streams not looked at each counts as one. */
  ignored = 0
  /** Assigned streams that are not kept because of whose they are. */
  unwelcome = 0

  constructor(options: KeptPartsOptions, modules: KeptPartsModules) {
    this.#options = options
    this.#modules = modules
  }

  /** Whether the stream part is assigned to this node, which does not keep it. */
  isRefused(streamPartId: StreamPartId): boolean {
    return !this.has(streamPartId) && this.#refused.has(streamOf(streamPartId))
  }

  has(streamPartId: StreamPartId): boolean {
    return this.#releases.has(streamPartId)
  }

  /** Whether it is known that nobody asks this node to keep the stream part, or that it has no room for it. */
  isGivenUp(streamPartId: StreamPartId): boolean {
    return !this.has(streamPartId) && this.#wanted?.has(streamPartId) === false
  }

  /** Those with messages: key parts come with them. */
  get ids(): readonly StreamPartId[] {
    return [...this.#releases.keys()].filter((id) => !isKeyPart(id))
  }

  /** Reads the assignments again, now or after the reading that is under way. Never rejects. */
  readonly refresh = oneAtATime(() => this.#refresh())

  /** Leaves everything. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelRetry()
    await this.refresh()
    for (const streamPartId of [...this.#releases.keys()]) this.#leave(streamPartId)
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
    const { client, memory } = this.#modules
    const { maxStreamParts, owners } = this.#options
    const order = (this.#order ??= await memory.load())
    const assigned = await client.streamsStoredBy(client.nodeId)
    const welcome = assigned.filter((streamId) => isWelcome(ownerOf(streamId), owners))
    // A stream has a part at least: no more of them need be looked at.
    const streams = shareOut(inOrderOf(order.map(streamOf), welcome), maxStreamParts)
    const failures: unknown[] = []
    const wanted = await this.#partsOf(streams, order, failures)
    const allowed = shareOut(inOrderOf(order, wanted), maxStreamParts)
    const keyParts = [...new Set(allowed.map(streamOf))].map((id) => toStreamPartId(id, keyPartition))
    const [looked, kept] = [new Set(streams), new Set([...allowed, ...keyParts])]
    const leftOut = [...wanted.filter((id) => !kept.has(id)), ...welcome.filter((id) => !looked.has(id))]
    const unwelcome = assigned.filter((streamId) => !isWelcome(ownerOf(streamId), owners))
    this.#refused = new Set([...unwelcome, ...leftOut.map(streamIdOf)])
    this.#sayRefused(leftOut, unwelcome.length)
    for (const streamPartId of [...this.#releases.keys()])
      if (!kept.has(streamPartId)) this.#leave(streamPartId)
    this.#wanted = kept
    this.#order = allowed
    if (allowed.join() !== order.join()) memory.save(allowed)
    for (const streamPartId of kept) {
      if (!this.has(streamPartId))
        await this.#join(streamPartId).catch((error: unknown) => failures.push(error))
    }
    // The others are joined all the same.
    if (failures.length > 0) throw failures[0]
  }

  /** The kept parts of a stream that cannot be read: the other streams need not wait for it. */
  async #partsOf(
    streams: readonly StreamId[],
    order: readonly StreamPartId[],
    failures: unknown[],
  ): Promise<StreamPartId[]> {
    const parts: StreamPartId[] = []
    for (const streamId of streams) {
      try {
        const { partitions } = await this.#modules.client.getStream(streamId)
        for (let partition = 0; partition < partitions; partition++) {
          parts.push(toStreamPartId(streamId, partition))
        }
      } catch (error) {
        // Nor can any other be read.
        if (isRunnelError(error, 'CHAIN_UNREACHABLE') || isRunnelError(error, 'CHAIN_DISPUTED')) throw error
        // Deleted since the assignments were read.
        if (isRunnelError(error, 'STREAM_NOT_FOUND')) continue
        failures.push(error)
        parts.push(...order.filter((streamPartId) => streamOf(streamPartId) === streamId))
      }
    }
    return parts
  }

  #sayRefused(leftOut: readonly (StreamId | StreamPartId)[], unwelcome: number): void {
    const { events } = this.#modules
    if (unwelcome > 0 && unwelcome !== this.unwelcome) events.unwelcome(unwelcome)
    if (leftOut.length > 0 && leftOut.length !== this.ignored) {
      const byOwner = [...Map.groupBy(leftOut, ownerOf)].toSorted(([, a], [, b]) => b.length - a.length)
      const owners = byOwner.slice(0, maxNamedOwners).map(([owner]) => owner)
      events.tooMany(leftOut.length, owners)
    }
    this.unwelcome = unwelcome
    this.ignored = leftOut.length
  }

  async #join(streamPartId: StreamPartId): Promise<void> {
    const { client, network, events } = this.#modules
    const { lookBackMs } = this.#options.limits
    const { streamId, partition } = parseStreamPartId(streamPartId)
    // What came while this node was restarted may be stored nowhere else.
    const release = await client.joinStreamPart(streamId, partition, { lookBackMs })
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
    const release = this.#releases.get(streamPartId)
    // Before it is left: that its neighbours go then is no gap.
    this.#releases.delete(streamPartId)
    release?.()
    events.left(streamPartId)
  }

  #retryLater(): void {
    const { minRegistryBackoffMs, maxRegistryBackoffMs } = this.#options.limits
    const delayMs = backoffMs(this.#failuresInARow, minRegistryBackoffMs, maxRegistryBackoffMs)
    this.#cancelRetry = this.#modules.clock.schedule(delayMs, () => void this.refresh())
  }
}

function streamIdOf(id: StreamId | StreamPartId): StreamId {
  return (id.split('#')[0] ?? id) as StreamId
}
