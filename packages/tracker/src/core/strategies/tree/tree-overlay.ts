import { Distances } from '../../coordinates/distances.ts'
import { cheapest, type Choice } from '../../topology/cheapest.ts'
import { GraphEdit } from '../../topology/graph-edit.ts'
import { OverlayGraph } from '../../topology/overlay-graph.ts'
import type { OverlayStrategy, OverlayStrategyModules } from '../overlay-strategy.ts'
import { centreOf, spanningTree } from './spanning-tree.ts'
import { Spares } from './spares.ts'
import { TreeMoves } from './tree-moves.ts'
import { TreeShape } from './tree-shape.ts'

type Reluctance<Id> = (a: Id, b: Id) => number

/**
 * A tree for one publisher and many viewers, rooted at the first node that is known to publish, else at the first node: a
 * message reaches every node over one edge each. Newcomers are placed as near to the root as there is room. Leaves have spare
 * edges to other branches, so that losing an inner node disconnects nobody (docs/decisions/039-overlay-strategies.md).
 */
export class TreeOverlay<Id extends string> extends OverlayGraph<Id> implements OverlayStrategy<Id> {
  readonly improves = true
  readonly #shape: TreeShape<Id>
  readonly #spares: Spares<Id>
  readonly #moves: TreeMoves<Id>
  readonly #distances: Distances<Id>
  readonly #isPublisher: (id: Id) => boolean

  constructor(degree: number, modules: OverlayStrategyModules<Id>) {
    super(degree, modules)
    const { graph, chooser } = this
    const { random, reluctance } = chooser
    this.#shape = new TreeShape(degree)
    this.#spares = new Spares(graph, this.#shape, chooser)
    this.#distances = new Distances(modules, { random: modules.random.fork('coordinates') })
    this.#moves = new TreeMoves({
      ...{ graph, shape: this.#shape, spares: this.#spares, random, reluctance },
      distanceMs: (a, b) => this.#distances.expectedMs(a, b),
    })
    this.#isPublisher = modules.isPublisher ?? (() => false)
  }

  /** The root of the tree. */
  get entry(): Id | undefined {
    return this.#shape.root
  }

  /** Edges of the tree; spare edges are drawn at random. */
  isNear(a: Id, b: Id): boolean {
    return this.hasEdge(a, b) && this.#shape.isTreeEdge(a, b)
  }

  report(id: Id, rttsMs: ReadonlyMap<Id, number>): number {
    return this.#distances.report(id, rttsMs)
  }

  forget(id: Id): void {
    this.#distances.delete(id)
  }

  add(id: Id): ReadonlySet<Id> {
    const edit = new GraphEdit(this.graph)
    if (this.has(id)) return edit.changed()
    this.addNode(id)
    edit.mark(id)
    if (this.#shape.root === undefined) this.#shape.crown(id)
    else if (this.#shouldBeRoot(id)) this.#enthrone(edit, id)
    else this.#attach(edit, id)
    return this.#settled(edit)
  }

  remove(id: Id): ReadonlySet<Id> {
    const edit = new GraphEdit(this.graph)
    if (!this.has(id)) return edit.changed()
    const isRoot = id === this.#shape.root
    const children = [...this.#shape.childrenOf(id)]
    for (const child of children) this.#shape.detach(child)
    this.#shape.detach(id)
    for (const neighbour of this.neighbours(id)) edit.disconnect(id, neighbour)
    this.#shape.delete(id)
    this.removeNode(id)
    const heir = isRoot ? ([...this.nodes()].find(this.#isPublisher) ?? children[0]) : undefined
    if (heir !== undefined) this.#enthrone(edit, heir)
    for (const child of children) if (!this.#isInTree(child)) this.#attach(edit, child)
    return this.#settled(edit)
  }

  failEdge(a: Id, b: Id): ReadonlySet<Id> {
    const edit = new GraphEdit(this.graph)
    if (!this.hasEdge(a, b)) return edit.changed()
    const { reluctance } = this.chooserAfterFailure(a, b)
    edit.disconnect(a, b)
    if (this.#shape.isTreeEdge(a, b)) {
      const child = this.#shape.parentOf(a) === b ? a : b
      this.#shape.detach(child)
      this.#attach(edit, child, reluctance)
    }
    return this.#settled(edit, reluctance)
  }

  /** Takes the edges of one breadth-first tree as its own; the others become spare. */
  adopt(edges: Iterable<readonly [Id, Id]>): ReadonlySet<Id> {
    const edit = new GraphEdit(this.graph)
    for (const [a, b] of edges) {
      for (const id of [a, b]) if (!this.has(id)) this.addNode(id)
      if (this.hasEdge(a, b)) continue
      if (a === b) edit.mark(a)
      else if (this.graph.freeSlots(a) > 0 && this.graph.freeSlots(b) > 0) this.graph.connect(a, b)
      else edit.miss(a, b)
      this.#distances.takenOver(a, b)
    }
    this.#rebuild(edit)
    return this.#settled(edit)
  }

  improve(id: Id, mayChange: (id: Id) => boolean): ReturnType<OverlayStrategy<Id>['improve']> {
    const edit = new GraphEdit(this.graph)
    if (!this.has(id) || !mayChange(id)) return { outcome: 'nothing better', changed: edit.changed() }
    this.#distances.learn(id)
    const isBetter = this.#improve(edit, id, mayChange)
    return { outcome: isBetter ? 'improved' : 'nothing better', changed: this.#settled(edit) }
  }

  #improve(edit: GraphEdit<Id>, id: Id, mayChange: (id: Id) => boolean): boolean {
    if (this.#shouldBeRoot(id)) {
      this.#enthrone(edit, id)
      return true
    }
    return this.#spares.dropSurplus(edit, id, mayChange) || this.#moves.improve(edit, id, mayChange)
  }

  protected override addNode(id: Id): void {
    super.addNode(id)
    this.#shape.add(id)
  }

  #shouldBeRoot(id: Id): boolean {
    const { root } = this.#shape
    return root !== undefined && root !== id && this.#isPublisher(id) && !this.#isPublisher(root)
  }

  #isInTree(id: Id): boolean {
    return this.#shape.isAttached(id)
  }

  /** Puts a node in the place of the root, which joins anew. Where there is no room for it, the node keeps what is below it. */
  #enthrone(edit: GraphEdit<Id>, id: Id): void {
    const old = this.#shape.root
    const orphans = old === undefined ? [] : [...this.#shape.childrenOf(id)]
    const heirs = old === undefined ? [] : [...this.#shape.childrenOf(old)].filter((child) => child !== id)
    this.#cut(edit, id)
    for (const child of orphans) this.#cut(edit, child)
    for (const child of heirs) this.#cut(edit, child)
    this.#shape.dethrone()
    this.#shape.crown(id)
    for (const child of heirs) this.#link(edit, child, id)
    for (const child of orphans) this.#attach(edit, child)
    if (old !== undefined) this.#attach(edit, old)
  }

  /** Detaches a subtree from its parent. */
  #cut(edit: GraphEdit<Id>, top: Id): void {
    const parent = this.#shape.parentOf(top)
    if (parent === undefined) return
    this.#shape.detach(top)
    edit.disconnect(parent, top)
  }

  /** Hangs a detached subtree below the node with room for it that is nearest to the root. */
  #attach(edit: GraphEdit<Id>, top: Id, reluctance: Reluctance<Id> = this.chooser.reluctance): void {
    let best: Choice<Id> | undefined
    for (const level of this.#shape.open) {
      const cost = (id: Id) => reluctance(id, top)
      const choice = cheapest(level.size, (position) => level.at(position), cost, this.chooser.random)
      if ((choice?.cost ?? Infinity) < (best?.cost ?? Infinity)) best = choice
      if ((best?.cost ?? Infinity) < 1) break
    }
    if (best === undefined) throw new Error('a tree without room')
    this.#link(edit, top, best.value)
  }

  #link(edit: GraphEdit<Id>, top: Id, parent: Id): void {
    // A former root may have one child too many.
    const extra =
      this.#shape.childrenOf(top).size < this.graph.degree ? undefined : [...this.#shape.childrenOf(top)][0]
    if (extra !== undefined) this.#cut(edit, extra)
    if (!this.hasEdge(top, parent)) {
      for (const id of [top, parent]) this.#spares.makeRoom(edit, id)
      edit.connect(parent, top, true)
    }
    this.#shape.attach(top, parent)
    this.#spares.inherit(edit, top, parent)
    this.#spares.moved(top)
    if (extra !== undefined) this.#attach(edit, extra)
  }

  /** Builds another tree of the same edges. */
  #rebuild(edit: GraphEdit<Id>): void {
    const nodes = [...this.nodes()]
    const root = nodes.find(this.#isPublisher) ?? this.#shape.root ?? centreOf(this.graph)
    if (root === undefined) return
    this.#shape.scatter()
    this.#shape.crown(root)
    const tops: Id[] = []
    for (const { id, parent } of spanningTree(this.graph, [root, ...nodes])) {
      if (parent !== undefined) this.#shape.attach(id, parent)
      else if (id !== root) tops.push(id)
    }
    for (const top of tops) this.#attach(edit, top)
    this.#spares.doubt(nodes)
  }

  #settled(edit: GraphEdit<Id>, reluctance?: Reluctance<Id>): ReadonlySet<Id> {
    this.#spares.doubt(edit.changed())
    this.#spares.settle(edit, reluctance)
    return edit.changed()
  }
}
