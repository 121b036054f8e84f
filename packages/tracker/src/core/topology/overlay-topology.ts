import type { OverlayStrategy } from '../strategies/overlay-strategy.ts'
import type { Chooser } from './chooser.ts'
import { connectComponents, reconnectChanged } from './connect-components.ts'
import { fillSlots, fillSlotsByCutting } from './fill-slots.ts'
import { GraphEdit } from './graph-edit.ts'
import { improveAt, type Improvement } from './improve.ts'
import { longestEdges } from './longest-edges.ts'
import { OverlayGraph, type OverlayGraphModules } from './overlay-graph.ts'
import type { Proximity } from './proximity.ts'
import { randomEdges, randomEdgesPerNode } from './random-edges.ts'

export interface OverlayTopologyOptions {
  /** Neighbours per node once there are more than `degree` nodes; a whole number ≥ 2. */
  readonly degree: number
}

/**
 * The overlay of one stream part as the tracker wants it: a random graph that is simple, symmetric and connected after every
 * operation, and in which each of n nodes has exactly min(degree, n − 1) neighbours; where n · degree is odd and n > degree,
 * one node has one neighbour fewer.
 *
 * The algorithm is that of Streamr's trackers (thesis, section 4.2.1), extended for cases in which it may leave slots free or
 * the graph disconnected; docs/decisions/003-overlay-construction.md says how and at what cost.
 *
 * Where nodes come from several networks, at most half of a node's neighbours, rounded down, are of any one network other than
 * its own, as far as a few draws find others (`Diversity`; docs/decisions/024-shares-at-trackers.md).
 *
 * Every change returns the nodes whose neighbour set differs from before.
 */
export class OverlayTopology<Id extends string> extends OverlayGraph<Id> implements OverlayStrategy<Id> {
  constructor({ degree }: OverlayTopologyOptions, modules: OverlayGraphModules<Id>) {
    if (!Number.isSafeInteger(degree) || degree < 2)
      throw new RangeError(`degree must be 2 or more: ${degree}`)
    super(degree, modules)
  }

  /**
   * Lets a node join. It counts as changed even when it is alone; a node that is already there changes nothing. With an
   * even degree only the node and its new neighbours change, unless avoided pairs force a detour.
   */
  add(id: Id): ReadonlySet<Id> {
    const edit = new GraphEdit(this.graph)
    if (this.has(id)) return edit.changed()
    this.addNode(id)
    edit.mark(id)
    fillSlotsByCutting(edit, this.chooser)
    reconnectChanged(edit, this.chooser)
    return edit.changed()
  }

  /** Lets a node leave; an unknown one changes nothing. The node itself is not among the changed. */
  remove(id: Id): ReadonlySet<Id> {
    const edit = new GraphEdit(this.graph)
    if (!this.has(id)) return edit.changed()
    for (const neighbour of this.neighbours(id)) edit.disconnect(id, neighbour)
    this.removeNode(id)
    return this.#repair(edit, this.chooser)
  }

  /**
   * Replaces an edge that could not be opened or was lost by others, if need be by avoided ones. How long the pair is avoided
   * afterwards is decided by the injected `avoid`. With at most degree + 1 nodes there are no others: the edge stays wanted.
   */
  failEdge(a: Id, b: Id): ReadonlySet<Id> {
    const edit = new GraphEdit(this.graph)
    if (!this.hasEdge(a, b)) return edit.changed()
    edit.disconnect(a, b)
    return this.#repair(edit, this.chooserAfterFailure(a, b))
  }

  /**
   * Takes over existing edges, as nodes report them after the tracker's restart, lets their unknown ends join, and repairs the
   * rest. Edges that would break simplicity or degree are left out, the earlier of two winning; so everything known should come
   * in one call. Changed are the nodes whose wanted neighbours are not those reported: none, when the edges are a correct
   * overlay already. O(nodes + edges).
   *
   * Where distances count (`lengthMs`), it is unknown which of the edges were drawn at random. The longest of each node most
   * likely were, and are counted as such.
   */
  adopt(
    edges: Iterable<readonly [Id, Id]>,
    lengthMs?: (a: Id, b: Id) => number | undefined,
  ): ReadonlySet<Id> {
    const edit = new GraphEdit(this.graph)
    const known = [...edges]
    const perNode = randomEdgesPerNode(new Set(known.flat()).size, this.graph.degree)
    const random = lengthMs === undefined ? new Set(known) : longestEdges(known, perNode, lengthMs)
    for (const edge of known) {
      const [a, b] = edge
      for (const id of [a, b]) if (!this.has(id)) this.addNode(id)
      if (this.hasEdge(a, b)) continue
      if (a === b) edit.mark(a)
      else if (this.graph.freeSlots(a) > 0 && this.graph.freeSlots(b) > 0)
        this.graph.connect(a, b, !random.has(edge))
      else edit.miss(a, b)
    }
    fillSlots(edit, this.chooser)
    connectComponents(edit, this.chooser)
    return edit.changed()
  }

  /**
   * Exchanges two edges for nearer ones, one of them at `id`, if a few draws find a worthwhile pair
   * (docs/decisions/009-topology-aware.md). A node that joins, and all that lose an edge, get random ones again.
   */
  exchange(
    id: Id,
    proximity: Proximity<Id>,
  ): { readonly outcome: Improvement; readonly changed: ReadonlySet<Id> } {
    const edit = new GraphEdit(this.graph)
    if (!this.has(id) || this.edgeCount === 0) return { outcome: 'nothing better', changed: edit.changed() }
    const outcome = improveAt(edit, id, proximity, this.chooser)
    return { outcome, changed: edit.changed() }
  }

  /** Ignores measurements. */
  report(_id: Id, _rttsMs: ReadonlyMap<Id, number>): number {
    return 0
  }

  forget(_id: Id): void {}

  get improves(): boolean {
    return false
  }

  improve(_id: Id, _mayChange: (id: Id) => boolean): ReturnType<OverlayStrategy<Id>['improve']> {
    return { outcome: 'nothing better', changed: new Set() }
  }

  /** All nodes are equal: a flood takes as long from one as from another, on average. */
  get entry(): undefined {
    return undefined
  }

  /** Whether the edge was chosen because its ends are near each other; false where there is no edge. */
  isNear(a: Id, b: Id): boolean {
    return this.has(a) && (this.graph.linksOf(a).get(b)?.near ?? false)
  }

  /** How many of the node's edges were drawn without regard to distance. */
  randomEdges(id: Id): number {
    return this.has(id) ? randomEdges(this.graph, id) : 0
  }

  #repair(edit: GraphEdit<Id>, chooser: Chooser<Id>): ReadonlySet<Id> {
    fillSlots(edit, chooser)
    reconnectChanged(edit, chooser)
    return edit.changed()
  }
}
