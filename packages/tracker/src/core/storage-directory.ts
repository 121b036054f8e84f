import {
  canConnect,
  limits as wireLimits,
  type Contact,
  type NodeId,
  type Random,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import type { CounterName } from './counters.ts'
import { ExpiringPairs } from './timing/expiring-pairs.ts'
import { IndexedSet } from './topology/indexed-set.ts'

export interface StorageDirectoryModules {
  readonly random: Random
  contactOf(id: NodeId): Contact | undefined
  count(name: CounterName): void
}

/** How many nodes that say they store a stream part are looked at for one answer; not all need be of use to who asks. */
const maxStorageLooks = 64

/**
 * Who says it stores what, and who was told so. Whoever adds a node sees to it that it is in the stream part, and that it is forgotten when it
 * leaves: so there are never more than there are members.
 */
export class StorageDirectory {
  readonly #nodesOf = new Map<StreamPartId, IndexedSet<NodeId>>()
  readonly #partsOf = new Map<NodeId, Set<StreamPartId>>()
  /** Pairs of a storage node and who asked for it. */
  readonly #introduced: ExpiringPairs<NodeId>
  readonly #modules: StorageDirectoryModules

  constructor(
    limits: Pick<TrackerLimits, 'storagePermitMs' | 'maxStoragePermits'>,
    modules: StorageDirectoryModules,
  ) {
    const { storagePermitMs: lifetimeMs, maxStoragePermits: maxPairs } = limits
    this.#introduced = new ExpiringPairs({ lifetimeMs, maxPairs })
    this.#modules = modules
  }

  add(nodeId: NodeId, id: StreamPartId): void {
    const nodes = this.#nodesOf.get(id) ?? new IndexedSet()
    const parts = this.#partsOf.get(nodeId) ?? new Set()
    this.#nodesOf.set(id, nodes)
    this.#partsOf.set(nodeId, parts)
    nodes.add(nodeId)
    parts.add(id)
  }

  delete(nodeId: NodeId, id: StreamPartId): void {
    const nodes = this.#nodesOf.get(id)
    const parts = this.#partsOf.get(nodeId)
    nodes?.delete(nodeId)
    parts?.delete(id)
    if (nodes?.size === 0) this.#nodesOf.delete(id)
    if (parts?.size === 0) this.#partsOf.delete(nodeId)
  }

  /** Forgets all that a node said. */
  forget(nodeId: NodeId): void {
    for (const id of this.#partsOf.get(nodeId) ?? []) this.delete(nodeId, id)
  }

  /** How many nodes store a stream part. */
  count(id: StreamPartId): number {
    return this.#nodesOf.get(id)?.size ?? 0
  }

  /** The nodes that store a stream part, each once, from the one at `start` (0 to below 1) of the way on. */
  *nodes(id: StreamPartId, start = 0): Generator<NodeId> {
    const nodes = this.#nodesOf.get(id)
    if (nodes === undefined) return
    const { size } = nodes
    const first = Math.floor(start * size)
    for (let i = 0; i < size; i++) yield nodes.at((first + i) % size)
  }

  /**
   * Nodes that store a stream part and that the asker can connect to: all, or some at random, so that nobody can keep
   * others from being found by claiming to store it too. The asker and they may signal for a while.
   */
  introduce(asker: WantedNeighbour, id: StreamPartId, nowMs: number): WantedNeighbour[] {
    const { random, contactOf, count } = this.#modules
    const found: WantedNeighbour[] = []
    let looks = 0
    for (const nodeId of this.nodes(id, random.next())) {
      if (found.length === wireLimits.maxStorageNodes || looks++ === maxStorageLooks) break
      const contact = contactOf(nodeId)
      if (contact === undefined || nodeId === asker.nodeId || !canConnect(asker.contact, contact)) continue
      found.push({ nodeId, contact })
      if (this.#introduced.add(asker.nodeId, nodeId, nowMs)) count('storagePermitsDropped')
    }
    return found
  }

  /** Whether one of the two asked for the other lately. */
  wereIntroduced(a: NodeId, b: NodeId, nowMs: number): boolean {
    return this.#introduced.has(a, b, nowMs)
  }
}
