import { BoundedGraph } from './bounded-graph.ts'
import type { RandomSource } from './cheapest.ts'
import type { Chooser } from './chooser.ts'
import { Diversity } from './diversity.ts'

export interface OverlayGraphModules<Id extends string> {
  readonly random: RandomSource
  /**
   * Whether an edge between the two should rather not be made: it failed lately, or they have no transport in common.
   * Must be symmetric. A preference only: where the degree cannot be had otherwise the edge is made all the same.
   */
  readonly avoid?: (a: Id, b: Id) => boolean
  /** Where a node that joins comes from; undefined when nobody knows. Default: nobody knows of any. */
  readonly networkOf?: (id: Id) => string | undefined
}

/** Reluctance to make an edge again that has just failed: more than any avoided ones that could take its place. */
const justFailed = 8

/** The graph of one overlay and where its nodes come from, which every strategy has. */
export abstract class OverlayGraph<Id extends string> {
  protected readonly graph: BoundedGraph<Id>
  protected readonly chooser: Chooser<Id>
  readonly #diversity: Diversity<Id>
  readonly #networkOf: (id: Id) => string | undefined

  constructor(
    degree: number,
    { random, avoid = () => false, networkOf = () => undefined }: OverlayGraphModules<Id>,
  ) {
    this.graph = new BoundedGraph(degree)
    const diversity = new Diversity(this.graph)
    this.#diversity = diversity
    this.#networkOf = networkOf
    const reluctance = (a: Id, b: Id) => (avoid(a, b) ? 1 : 0) + diversity.reluctance(a, b)
    this.chooser = { random, reluctance, diversity }
  }

  get size(): number {
    return this.graph.size
  }

  get edgeCount(): number {
    return this.graph.edges.size
  }

  has(id: Id): boolean {
    return this.graph.has(id)
  }

  hasEdge(a: Id, b: Id): boolean {
    return this.graph.adjacent(a, b)
  }

  /** A copy of the neighbour set; empty for an unknown node. */
  neighbours(id: Id): ReadonlySet<Id> {
    return new Set(this.has(id) ? this.graph.linksOf(id).keys() : [])
  }

  nodes(): IterableIterator<Id> {
    return this.graph.nodes()
  }

  /** Every edge once. */
  *edges(): IterableIterator<readonly [Id, Id]> {
    for (const { a, b } of this.graph.edges) yield [a, b]
  }

  protected addNode(id: Id): void {
    this.graph.addNode(id)
    this.#diversity.add(id, this.#networkOf(id))
  }

  protected removeNode(id: Id): void {
    this.graph.removeNode(id)
    this.#diversity.delete(id)
  }

  /** Chooses as usual, but makes the edge between these two again only where nothing else is left. */
  protected chooserAfterFailure(a: Id, b: Id): Chooser<Id> {
    const { reluctance } = this.chooser
    const isFailed = (c: Id, e: Id) => (c === a && e === b) || (c === b && e === a)
    return { ...this.chooser, reluctance: (c, e) => (isFailed(c, e) ? justFailed : reluctance(c, e)) }
  }
}
