import type { BoundedGraph } from '../../topology/bounded-graph.ts'
import { randomPosition, type RandomSource } from '../../topology/cheapest.ts'
import type { GraphEdit } from '../../topology/graph-edit.ts'
import type { Spares } from './spares.ts'
import type { TreeShape } from './tree-shape.ts'

export interface TreeMovesModules<Id extends string> {
  readonly graph: BoundedGraph<Id>
  readonly shape: TreeShape<Id>
  readonly spares: Spares<Id>
  readonly random: RandomSource
  readonly reluctance: (a: Id, b: Id) => number
  /** The expected round-trip time between the two; undefined when it is unknown. */
  readonly distanceMs: (a: Id, b: Id) => number | undefined
}

/** A move: a node goes below another parent; a child of that parent may make room, and goes below `to`. */
interface Move<Id> {
  readonly parent: Id
  readonly displaced?: { readonly child: Id; readonly to: Id }
  /** How much sooner messages arrive, in milliseconds summed over the nodes concerned. */
  readonly gainMs: number
}

/** Assumed round-trip time of unknown pairs, so that they are neither preferred nor avoided. */
const unknownMs = 100
/** Added for each edge on the path: a short path over many nodes is not better than one over few. */
const hopMs = 2
/** The minimum gain of a move, as a share of the present delay. */
const leastShare = 0.05
/** Nodes drawn at random, besides nearby ones. */
const drawn = 8

/** Looks for a place in the tree where a node, and everything below it, gets the root's messages sooner. */
export class TreeMoves<Id extends string> {
  readonly #modules: TreeMovesModules<Id>

  constructor(modules: TreeMovesModules<Id>) {
    this.#modules = modules
  }

  /** Makes the best worthwhile move of the node. False when there is none. */
  improve(edit: GraphEdit<Id>, id: Id, mayChange: (id: Id) => boolean): boolean {
    const { shape } = this.#modules
    const parent = shape.parentOf(id)
    if (parent === undefined || !mayChange(parent)) return false
    const below = shape.subtree(id)
    let best: Move<Id> | undefined
    for (const candidate of this.#candidates(parent)) {
      if (candidate === parent || below.has(candidate) || !mayChange(candidate)) continue
      for (const move of this.#movesTo(candidate, { id, parent, below }, mayChange))
        if (move.gainMs > (best?.gainMs ?? 0)) best = move
    }
    if (best === undefined || best.gainMs < leastShare * this.#delayMs(id) * below.size) return false
    this.#make(edit, id, best)
    return true
  }

  /** Round-trip time from the root, along the tree. */
  #delayMs(id: Id): number {
    let delayMs = 0
    let last: Id | undefined
    for (const at of this.#modules.shape.pathUp(id)) {
      if (last !== undefined) delayMs += this.#edgeMs(last, at)
      last = at
    }
    return delayMs
  }

  #edgeMs(a: Id, b: Id): number {
    return (this.#modules.distanceMs(a, b) ?? unknownMs) + hopMs
  }

  /** Nodes near it in the tree, and some from anywhere. */
  *#candidates(parent: Id): Generator<Id> {
    const { shape, graph, random } = this.#modules
    const above = shape.parentOf(parent)
    if (above !== undefined) {
      yield above
      yield* shape.childrenOf(above)
    }
    yield* shape.childrenOf(parent)
    for (let i = 0; i < drawn; i++) {
      const edge = graph.edges.at(randomPosition(graph.edges.size, random))
      const node = random.next() < 0.5 ? edge.a : edge.b
      yield node
      const [near] = shape.childrenOf(node)
      if (near !== undefined) yield near
    }
  }

  *#movesTo(
    to: Id,
    { id, parent, below }: { readonly id: Id; readonly parent: Id; readonly below: ReadonlySet<Id> },
    mayChange: (id: Id) => boolean,
  ): Generator<Move<Id>> {
    const { shape, reluctance } = this.#modules
    if (reluctance(id, to) >= 1) return
    const delayMs = this.#delayMs(to) + this.#edgeMs(to, id)
    const gainMs = (this.#delayMs(id) - delayMs) * below.size
    if (gainMs <= 0) return
    if (shape.hasRoom(to)) {
      yield { parent: to, gainMs }
      return
    }
    const parentMs = this.#delayMs(parent)
    for (const child of shape.childrenOf(to)) {
      if (child === id || !mayChange(child)) continue
      const childMs = this.#delayMs(child)
      const size = shape.subtree(child).size - (shape.isBelow(id, child) ? below.size : 0)
      const ways = [
        ...(shape.hasRoom(id) ? [{ to: id, delayMs: delayMs + this.#edgeMs(id, child) }] : []),
        // Not below itself; nor may the child that makes room be among what is moved.
        ...(shape.isBelow(parent, child)
          ? []
          : [{ to: parent, delayMs: parentMs + this.#edgeMs(parent, child) }]),
      ]
      for (const way of ways) {
        if (reluctance(child, way.to) >= 1) continue
        yield {
          parent: to,
          displaced: { child, to: way.to },
          gainMs: gainMs - (way.delayMs - childMs) * size,
        }
      }
    }
  }

  #make(edit: GraphEdit<Id>, id: Id, { parent, displaced }: Move<Id>): void {
    this.#cut(edit, id)
    if (displaced !== undefined) this.#cut(edit, displaced.child)
    this.#link(edit, id, parent)
    if (displaced !== undefined) this.#link(edit, displaced.child, displaced.to)
  }

  #cut(edit: GraphEdit<Id>, id: Id): void {
    const { shape } = this.#modules
    const parent = shape.parentOf(id)
    shape.detach(id)
    if (parent !== undefined) edit.disconnect(id, parent)
  }

  #link(edit: GraphEdit<Id>, id: Id, parent: Id): void {
    const { graph, shape, spares } = this.#modules
    if (!graph.adjacent(id, parent)) {
      for (const end of [id, parent]) spares.makeRoom(edit, end)
      edit.connect(id, parent, true)
    }
    shape.attach(id, parent)
    spares.moved(id)
  }
}
