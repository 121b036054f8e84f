import type { OverlayStrategy } from '../strategies/overlay-strategy.ts'
import { BoundedGraph } from './bounded-graph.ts'
import type { RandomSource } from './cheapest.ts'
import type { Chooser } from './chooser.ts'
import { connectComponents, reconnectChanged } from './connect-components.ts'
import { Diversity } from './diversity.ts'
import { fillSlots, fillSlotsByCutting } from './fill-slots.ts'
import { GraphEdit } from './graph-edit.ts'
import { improveAt, randomEdgesPerNode, type Improvement, type Proximity } from './improve.ts'
import { longestEdges } from './longest-edges.ts'

export interface OverlayTopologyOptions {
  /** Neighbours per node once there are more than `degree` nodes; a whole number ≥ 2. */
  readonly degree: number
}

export interface OverlayTopologyModules<Id extends string> {
  readonly random: RandomSource
  /**
   * Whether to avoid an edge between the two: it failed recently, or they have no transport in common. Must be symmetric. A
   * preference only: where the degree cannot be reached otherwise the edge is made all the same.
   */
  readonly avoid?: (a: Id, b: Id) => boolean
  /** The network of a node that joins; undefined when it is unknown. Default: unknown for all. */
  readonly networkOf?: (id: Id) => string | undefined
}

/** Cost of an edge that has just failed: more than any avoided ones that could replace it. */
const justFailed = 8

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
export class OverlayTopology<Id extends string> implements OverlayStrategy<Id> {
  readonly #graph: BoundedGraph<Id>
  readonly #chooser: Chooser<Id>
  readonly #diversity: Diversity<Id>
  readonly #networkOf: (id: Id) => string | undefined

  constructor(
    { degree }: OverlayTopologyOptions,
    { random, avoid = () => false, networkOf = () => undefined }: OverlayTopologyModules<Id>,
  ) {
    if (!Number.isSafeInteger(degree) || degree < 2)
      throw new RangeError(`degree must be 2 or more: ${degree}`)
    this.#graph = new BoundedGraph(degree)
    const diversity = new Diversity(this.#graph)
    this.#diversity = diversity
    this.#networkOf = networkOf
    const reluctance = (a: Id, b: Id) => (avoid(a, b) ? 1 : 0) + diversity.reluctance(a, b)
    this.#chooser = { random, reluctance, diversity }
  }

  get size(): number {
    return this.#graph.size
  }

  get edgeCount(): number {
    return this.#graph.edges.size
  }

  has(id: Id): boolean {
    return this.#graph.has(id)
  }

  hasEdge(a: Id, b: Id): boolean {
    return this.#graph.adjacent(a, b)
  }

  /** A copy of the neighbour set; empty for an unknown node. */
  neighbours(id: Id): ReadonlySet<Id> {
    return new Set(this.has(id) ? this.#graph.linksOf(id).keys() : [])
  }

  nodes(): IterableIterator<Id> {
    return this.#graph.nodes()
  }

  /** Every edge once. */
  *edges(): IterableIterator<readonly [Id, Id]> {
    for (const { a, b } of this.#graph.edges) yield [a, b]
  }

  /**
   * Lets a node join. It counts as changed even when it is alone; a node that is already there changes nothing. With an
   * even degree only the node and its new neighbours change, unless avoided pairs force a detour.
   */
  add(id: Id): ReadonlySet<Id> {
    const edit = new GraphEdit(this.#graph)
    if (this.has(id)) return edit.changed()
    this.#addNode(id)
    edit.mark(id)
    fillSlotsByCutting(edit, this.#chooser)
    reconnectChanged(edit, this.#chooser)
    return edit.changed()
  }

  /** Lets a node leave; an unknown one changes nothing. The node itself is not among the changed. */
  remove(id: Id): ReadonlySet<Id> {
    const edit = new GraphEdit(this.#graph)
    if (!this.has(id)) return edit.changed()
    for (const neighbour of this.neighbours(id)) edit.disconnect(id, neighbour)
    this.#graph.removeNode(id)
    this.#diversity.delete(id)
    return this.#repair(edit, this.#chooser)
  }

  /**
   * Replaces an edge that could not be opened or was lost by others, if need be by avoided ones. How long the pair is avoided
   * afterwards is decided by the injected `avoid`. With at most degree + 1 nodes there are no others: the edge stays wanted.
   */
  failEdge(a: Id, b: Id): ReadonlySet<Id> {
    const edit = new GraphEdit(this.#graph)
    if (!this.hasEdge(a, b)) return edit.changed()
    edit.disconnect(a, b)
    const { reluctance } = this.#chooser
    const isFailed = (c: Id, e: Id) => (c === a && e === b) || (c === b && e === a)
    return this.#repair(edit, {
      ...this.#chooser,
      reluctance: (c, e) => (isFailed(c, e) ? justFailed : reluctance(c, e)),
    })
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
    const edit = new GraphEdit(this.#graph)
    const known = [...edges]
    const perNode = randomEdgesPerNode(new Set(known.flat()).size, this.#graph.degree)
    const random = lengthMs === undefined ? new Set(known) : longestEdges(known, perNode, lengthMs)
    for (const edge of known) {
      const [a, b] = edge
      for (const id of [a, b]) if (!this.has(id)) this.#addNode(id)
      if (this.hasEdge(a, b)) continue
      if (a === b) edit.mark(a)
      else if (this.#graph.freeSlots(a) > 0 && this.#graph.freeSlots(b) > 0)
        this.#graph.connect(a, b, !random.has(edge))
      else edit.miss(a, b)
    }
    fillSlots(edit, this.#chooser)
    connectComponents(edit, this.#chooser)
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
    const edit = new GraphEdit(this.#graph)
    if (!this.has(id) || this.edgeCount === 0) return { outcome: 'nothing better', changed: edit.changed() }
    const outcome = improveAt(edit, id, proximity, this.#chooser)
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
    return this.has(a) && (this.#graph.linksOf(a).get(b)?.near ?? false)
  }

  /** How many of the node's edges were drawn without regard to distance. */
  randomEdges(id: Id): number {
    if (!this.has(id)) return 0
    return [...this.#graph.linksOf(id).values()].filter(({ near }) => !near).length
  }

  #addNode(id: Id): void {
    this.#graph.addNode(id)
    this.#diversity.add(id, this.#networkOf(id))
  }

  #repair(edit: GraphEdit<Id>, chooser: Chooser<Id>): ReadonlySet<Id> {
    fillSlots(edit, chooser)
    reconnectChanged(edit, chooser)
    return edit.changed()
  }
}
