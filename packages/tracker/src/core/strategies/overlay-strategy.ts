import type { RandomSource } from '../topology/cheapest.ts'
import type { Improvement } from '../topology/improve.ts'
import type { OverlayGraphModules } from '../topology/overlay-graph.ts'

/** What a strategy may ask of the tracker around it. */
export interface OverlayStrategyModules<Id extends string> extends OverlayGraphModules<Id> {
  readonly random: RandomSource & { fork(label: string): RandomSource }
  /** Whether the node publishes, as far as is known. Default: nobody knows of any. */
  readonly isPublisher?: (id: Id) => boolean
  /** Peers of which a node's round-trip times are remembered. */
  readonly maxMeasuredPeers: number
}

/**
 * Decides the edges of one overlay. After every operation the graph is simple, symmetric and connected, and no node has more
 * than `degree` neighbours. Every change returns the nodes whose neighbours differ from before.
 */
export interface OverlayStrategy<Id extends string> {
  readonly size: number
  readonly edgeCount: number
  has(id: Id): boolean
  hasEdge(a: Id, b: Id): boolean
  /** A copy of the neighbour set; empty for an unknown node. */
  neighbours(id: Id): ReadonlySet<Id>
  nodes(): IterableIterator<Id>
  /** Every edge once. */
  edges(): IterableIterator<readonly [Id, Id]>
  /** Whether the edge was chosen because its ends are near each other; false where there is no edge. */
  isNear(a: Id, b: Id): boolean
  /** Where messages of a publisher outside the overlay should enter it; undefined when every node is equally good. */
  readonly entry: Id | undefined

  /** Lets a node join. It counts as changed even when it is alone. */
  add(id: Id): ReadonlySet<Id>
  /** Lets a node leave. The node itself is not among the changed. */
  remove(id: Id): ReadonlySet<Id>
  /** Replaces an edge that could not be opened or was lost, if it can be replaced. */
  failEdge(a: Id, b: Id): ReadonlySet<Id>
  /** Takes over existing edges, lets their unknown ends join, and repairs the rest. */
  adopt(edges: Iterable<readonly [Id, Id]>): ReadonlySet<Id>

  /** Takes round-trip times in milliseconds that a node has measured. Returns how many of them the peers' own contradict. */
  report(id: Id, rttsMs: ReadonlyMap<Id, number>): number
  /** The node left: its measurements no longer count. */
  forget(id: Id): void
  /** Whether `improve` can find anything at all. */
  readonly improves: boolean
  /** Looks for better neighbours for one node; changes only edges of nodes that `mayChange`. */
  improve(
    id: Id,
    mayChange: (id: Id) => boolean,
  ): { readonly outcome: Improvement; readonly changed: ReadonlySet<Id> }
}
