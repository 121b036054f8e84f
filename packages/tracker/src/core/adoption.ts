import type { NodeId, Random } from '@runnel/protocol'
import { Claims, mutualEdges } from './claims.ts'
import { TemporaryEdges } from './temporary-edges.ts'
import { overlayStateOf, type OverlayState } from './overlay-states.ts'
import type { Overlay } from './overlay.ts'
import type { Replica } from './replica.ts'
import type { StreamPartHost } from './stream-part-host.ts'

export type Edge = readonly [NodeId, NodeId]

export interface AdoptionModules {
  readonly random: Random
  /** Nodes that are already in an overlay of this tracker. */
  readonly overlay: Overlay
  readonly host: Pick<StreamPartHost, 'isConnected' | 'avoids'>
}

/** Everything gathered about an overlay. */
export interface GatheredOverlay {
  /** The report of each node, in the order in which they came. */
  readonly claims: ReadonlyMap<NodeId, ReadonlySet<NodeId>>
  /** Edges that both ends claim. */
  readonly edges: readonly Edge[]
  /** Nodes that had temporary edges, which end when the overlay is taken over. */
  readonly temporary: ReadonlySet<NodeId>
  readonly replica: Replica | undefined
}

/**
 * An overlay that is about to be taken over: the claims of its nodes, the replica of its last leader, and the temporary edges
 * that newcomers have meanwhile.
 */
export class Adoption {
  readonly #claims = new Claims<NodeId>()
  readonly #temporaryEdges = new TemporaryEdges<NodeId>()
  /** Whether nodes that were here before have temporary edges into it. */
  #isBridged = false
  #replica: Replica | undefined
  readonly #modules: AdoptionModules

  constructor(modules: AdoptionModules) {
    this.#modules = modules
  }

  /** Whether some nodes wait for their overlay to be taken over. */
  get isPending(): boolean {
    return this.#claims.size > 0
  }

  get state(): OverlayState {
    const placed = this.#modules.overlay.topology.size
    return overlayStateOf({ claimed: this.#claims.size, placed, hasReplica: this.#replica !== undefined })
  }

  /** Whether newcomers have to wait too: no node has joined yet, and an overlay is expected. */
  get holdsNewcomers(): boolean {
    return this.state === 'foreseen' || this.state === 'gathering'
  }

  /** Whether all nodes that others claim have reported. */
  get isComplete(): boolean {
    return !this.#claims.incomplete
  }

  /** Whether a node has no neighbours until the overlay is taken over, or none in that overlay. */
  get needsTemporaryEdges(): boolean {
    return this.#claims.alone.size > 0 || (this.state === 'merging' && !this.#isBridged)
  }

  /** Whether a node waits for the overlay to be taken over. */
  has(id: NodeId): boolean {
    return this.#claims.has(id)
  }

  /** What a node reported; empty when it has not. */
  claimedBy(id: NodeId): ReadonlySet<NodeId> {
    return this.#claims.of(id) ?? new Set()
  }

  hasTemporaryEdges(id: NodeId): boolean {
    return this.#temporaryEdges.has(id)
  }

  /** The other ends of a node's temporary edges. */
  temporaryNeighbours(id: NodeId): ReadonlySet<NodeId> {
    return this.#temporaryEdges.of(id)
  }

  /** Sets the replica; claims of nodes take precedence. False when it comes too late. */
  expect(replica: Replica): boolean {
    if (this.#modules.overlay.topology.size > 0) return false
    this.#replica = replica
    this.#claims.recheck((id, neighbour) => this.#isKnown(id, neighbour))
    return true
  }

  /** A node claims neighbours. False when it has made a newer claim. */
  claim(id: NodeId, counter: number, neighbours: ReadonlySet<NodeId>): boolean {
    const isNews = this.#claims.add(id, counter, neighbours, (neighbour) => this.#isKnown(id, neighbour))
    if (this.#temporaryEdges.has(id)) this.#claims.setAlone(id, false)
    return isNews
  }

  /**
   * Gives waiting newcomers temporary edges to nodes of the overlay, and some nodes that were here before, so that there are
   * not two overlays. Returns the nodes that changed; undefined when no node of the overlay has reported.
   */
  addTemporaryEdges(): ReadonlySet<NodeId> | undefined {
    const { random, overlay, host } = this.#modules
    const { topology } = overlay
    const { degree } = overlay.kind
    const { alone } = this.#claims
    const changed = new Set<NodeId>()
    const reported = [...this.#claims.all].filter(([id, { size }]) => size > 0 && host.isConnected(id))
    if (reported.length === 0) return undefined
    const members = reported.filter(([, { size }]) => size <= degree).map(([id]) => id)
    if (members.length === 0) return changed
    // A claimed node is no newcomer, whatever it reported: those two stay together.
    const areClaimed = (a: NodeId, b: NodeId) => this.claimedBy(a).has(b) || this.claimedBy(b).has(a)
    const avoids = (a: NodeId, b: NodeId) => areClaimed(a, b) || host.avoids(a, b)
    const bridges = this.#isBridged ? [] : [...topology.nodes()].slice(-degree)
    this.#isBridged = true
    for (const newcomer of [...alone, ...bridges]) {
      const found = this.#temporaryEdges.add(newcomer, members, { degree, random, avoids })
      if (found.length === 0) continue
      this.#claims.setAlone(newcomer, false)
      for (const id of [newcomer, ...found]) changed.add(id)
      if (this.#claims.has(newcomer)) members.push(newcomer)
    }
    return changed
  }

  /** Ends the temporary edge of two nodes that cannot connect. */
  part(a: NodeId, b: NodeId): void {
    this.#temporaryEdges.part(a, b)
    for (const id of [a, b]) this.#parted(id)
  }

  /** The node left. Returns the nodes that lost a temporary edge to it. */
  delete(nodeId: NodeId): ReadonlySet<NodeId> {
    this.#claims.delete(nodeId)
    const parted = this.#temporaryEdges.delete(nodeId)
    for (const id of parted) this.#parted(id)
    return parted
  }

  /** Removes and returns everything. */
  take(): GatheredOverlay {
    // Nodes with temporary edges get neighbours as all newcomers do.
    const isLasting = ([a, b]: Edge) => !this.#temporaryEdges.of(a).has(b)
    const gathered = {
      edges: mutualEdges(this.#claims.all).filter(isLasting),
      temporary: new Set(this.#temporaryEdges.ids()),
      claims: this.#claims.take(),
      replica: this.#replica,
    }
    this.#temporaryEdges.clear()
    this.#isBridged = false
    this.#replica = undefined
    return gathered
  }

  /** Whether a node's claim is trusted before the neighbour reports: the neighbour has joined, or the replica confirms it. */
  #isKnown(id: NodeId, neighbour: NodeId): boolean {
    return this.#modules.overlay.topology.has(neighbour) || (this.#replica?.hasEdge(id, neighbour) ?? false)
  }

  /** A node lost a temporary edge. */
  #parted(id: NodeId): void {
    if (this.#claims.of(id)?.size === 0 && !this.#temporaryEdges.has(id)) this.#claims.setAlone(id, true)
  }
}
