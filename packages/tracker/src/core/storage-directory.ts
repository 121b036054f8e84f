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

/** Nodes storing a stream part that are considered for one answer; some may be useless to the asker. */
const maxStorageLooks = 64

/**
 * Which nodes say they store which stream parts, and which nodes were told so. The caller makes sure that a node that is added
 * is in the stream part, and is removed when it leaves: so there are never more than members.
 */
export class StorageDirectory {
  readonly #nodesOf = new Map<StreamPartId, IndexedSet<NodeId>>()
  readonly #partsOf = new Map<NodeId, Set<StreamPartId>>()
  /** Pairs of a storage node and a node that asked for it. */
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

  /** Removes all offers of a node. */
  forget(nodeId: NodeId): void {
    for (const id of this.#partsOf.get(nodeId) ?? []) this.delete(nodeId, id)
  }

  /** Whether a node stores a stream part. */
  has(nodeId: NodeId, id: StreamPartId): boolean {
    return this.#partsOf.get(nodeId)?.has(id) ?? false
  }

  /** How many nodes store a stream part. */
  count(id: StreamPartId): number {
    return this.#nodesOf.get(id)?.size ?? 0
  }

  /** The nodes that store a stream part, each once, starting at the fraction `start` (0 to below 1) of the list. */
  *nodes(id: StreamPartId, start = 0): Generator<NodeId> {
    const nodes = this.#nodesOf.get(id)
    if (nodes === undefined) return
    const { size } = nodes
    const first = Math.floor(start * size)
    for (let i = 0; i < size; i++) yield nodes.at((first + i) % size)
  }

  /**
   * Nodes that store a stream part and that the asker can connect to: all, or a random selection, so that nobody can hide
   * others by claiming to store it too. The asker and they may signal for a while.
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
