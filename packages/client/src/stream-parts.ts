import type { JoinOptions, NetworkNode } from '@runnel/network'
import {
  keyPartition,
  lastValuesIn,
  parseStreamPartId,
  permissionScope,
  toStreamPartId,
  type NodeId,
  type PermissionScope,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { ReadingRights } from './reading-rights.ts'
import type { RegistryService } from './registry/registry-service.ts'
import type { StreamInfo } from './registry/ports.ts'

/** What one use of a stream part needs from it. */
export interface PartUse {
  /** Ask for what is missing. Default true. */
  readonly fillGaps?: boolean
  /** Default true. False where it only publishes: the user need not be allowed to read then. */
  readonly reads?: boolean
  /** Of one that reads: called, perhaps again and again, where the user may not, as far as is known: nothing comes then. Must not leave in the call. */
  readonly onDenied?: (() => void) | undefined
  /** Also what was published so long before, if nothing else uses the stream part yet. Default 0. */
  readonly lookBackMs?: number
}

type KnownUse = PartUse & Required<Pick<PartUse, 'fillGaps' | 'reads'>>

type PartJoin = Required<Omit<JoinOptions, 'lookBackMs'>>

interface UsedPart {
  readonly scope: PermissionScope
  readonly uses: Set<KnownUse>
  /** Whether the stream's owner asks for last values to be kept, as of the last use that began. */
  keepsLatest: boolean
  /** As the node was last told. */
  joined: PartJoin
}

export interface StreamPartsModules {
  readonly node: NetworkNode
  readonly registry: Pick<RegistryService, 'use' | 'release'>
  readonly rights: ReadingRights
  /** Its neighbours are hosts: then it forwards nothing, and what it does not want it need not get. */
  readonly isLight: boolean
}

/** Counts the uses of each stream part the node is in, and leaves it with the last use. */
export class StreamParts {
  readonly #modules: StreamPartsModules
  readonly #parts = new Map<StreamPartId, UsedPart>()
  readonly #usesOfStream = new Map<StreamId, number>()
  readonly #neighbours = new Map<StreamPartId, number>()

  constructor(modules: StreamPartsModules) {
    this.#modules = modules
    modules.rights.onChange = (scope) => this.#rejoinAll(scope)
  }

  /** Joins, unless already in; gaps are filled while anybody wants it. The function it returns gives up this use; it is idempotent. */
  join(
    stream: StreamInfo,
    partition: number,
    { fillGaps = true, reads = true, onDenied, lookBackMs = 0 }: PartUse = {},
  ): () => void {
    const streamPartId = toStreamPartId(stream.id, partition)
    const release = this.use(stream)
    const use = { fillGaps, reads, onDenied }
    const scope = permissionScope(stream.id, partition)
    this.#modules.rights.watch(scope)
    const known = this.#parts.get(streamPartId)
    const keepsLatest = partition !== keyPartition && lastValuesIn(stream.metadata)
    if (known !== undefined) {
      known.uses.add(use)
      known.keepsLatest = keepsLatest
      this.#rejoin(streamPartId, known)
    } else {
      const part = { scope, uses: new Set([use]), keepsLatest, joined: { fillGaps, reads, keepsLatest } }
      part.joined = this.#wanted(part)
      this.#modules.node.join(streamPartId, { ...part.joined, lookBackMs })
      this.#parts.set(streamPartId, part)
      tellIfDenied(part)
    }
    return once(() => {
      this.#leave(streamPartId, use)
      release()
    })
  }

  /** Follows the stream's own trackers, without joining. The function it returns gives up this use; it is idempotent. */
  use(stream: StreamInfo): () => void {
    const before = this.#usesOfStream.get(stream.id) ?? 0
    if (before === 0) this.#modules.registry.use(stream)
    this.#usesOfStream.set(stream.id, before + 1)
    return once(() => {
      const uses = (this.#usesOfStream.get(stream.id) ?? 1) - 1
      if (uses > 0) {
        this.#usesOfStream.set(stream.id, uses)
        return
      }
      this.#usesOfStream.delete(stream.id)
      this.#modules.registry.release(stream.id)
    })
  }

  /** The partitions of a stream that the node is in, in order, without that of keys. */
  partitionsOf(streamId: StreamId): readonly number[] {
    const joined = Array.from(this.#parts.keys(), parseStreamPartId)
    return joined
      .filter((part) => part.streamId === streamId && part.partition !== keyPartition)
      .map(({ partition }) => partition)
      .sort((a, b) => a - b)
  }

  /** To be told of every change the node reports. */
  neighboursChanged(streamPartId: StreamPartId, neighbours: readonly NodeId[]): void {
    if (neighbours.length > 0) this.#neighbours.set(streamPartId, neighbours.length)
    else this.#neighbours.delete(streamPartId)
  }

  neighbourCount(streamPartId: StreamPartId): number {
    return this.#neighbours.get(streamPartId) ?? 0
  }

  #leave(streamPartId: StreamPartId, use: KnownUse): void {
    const part = this.#parts.get(streamPartId)
    if (part === undefined) return
    part.uses.delete(use)
    if (part.uses.size > 0) return this.#rejoin(streamPartId, part)
    this.#parts.delete(streamPartId)
    this.#neighbours.delete(streamPartId)
    this.#modules.node.leave(streamPartId)
    const { scope } = part
    if (![...this.#parts.values()].some((other) => other.scope === scope)) this.#modules.rights.unwatch(scope)
  }

  /** What the user may read has changed. */
  #rejoinAll(scope: PermissionScope): void {
    for (const [streamPartId, part] of this.#parts) if (part.scope === scope) this.#rejoin(streamPartId, part)
  }

  #rejoin(streamPartId: StreamPartId, part: UsedPart): void {
    const wanted = this.#wanted(part)
    const { fillGaps, reads, keepsLatest } = part.joined
    if (wanted.fillGaps !== fillGaps || wanted.reads !== reads || wanted.keepsLatest !== keepsLatest) {
      part.joined = wanted
      this.#modules.node.join(streamPartId, wanted)
    }
    tellIfDenied(part)
  }

  /** A user that may read is a neighbour in the overlay, even if it only publishes, unless it is light; one that may not never is. */
  #wanted({ scope, uses, keepsLatest }: UsedPart): PartJoin {
    const { rights, isLight } = this.#modules
    const isWanted = [...uses].some((use) => use.reads)
    const reads = (isWanted || !isLight) && rights.reads(scope, isWanted)
    return { fillGaps: [...uses].some(({ fillGaps }) => fillGaps), reads, keepsLatest }
  }
}

function tellIfDenied({ joined, uses }: UsedPart): void {
  if (!joined.reads) for (const use of uses) use.onDenied?.()
}

function once(run: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    run()
  }
}
