import type { BoundedGraph } from '../../topology/bounded-graph.ts'
import { cheapest } from '../../topology/cheapest.ts'
import type { Chooser } from '../../topology/chooser.ts'
import type { GraphEdit } from '../../topology/graph-edit.ts'
import type { TreeShape } from './tree-shape.ts'

/** Cost of a spare edge within one branch of the root: it does not help when an inner node of that branch is lost. */
const sameBranch = 16

/**
 * The edges beside the tree. Every leaf has one that leads to another branch of the root, so that everything below a lost inner
 * node is still reached: each child of that node has a leaf below it, or is one.
 */
export class Spares<Id extends string> {
  readonly #graph: BoundedGraph<Id>
  readonly #shape: TreeShape<Id>
  readonly #chooser: Chooser<Id>
  /** Leaves that may lack one. */
  readonly #doubtful = new Set<Id>()
  #branches = 0

  constructor(graph: BoundedGraph<Id>, shape: TreeShape<Id>, chooser: Chooser<Id>) {
    this.#graph = graph
    this.#shape = shape
    this.#chooser = chooser
  }

  of(id: Id): Id[] {
    return [...this.#graph.linksOf(id).keys()].filter((other) => !this.#shape.isTreeEdge(id, other))
  }

  /** The tree around these nodes has changed. */
  doubt(ids: Iterable<Id>): void {
    for (const id of ids) this.#doubtful.add(id)
  }

  /** The node's subtree moved to another branch: its spare edges, and those to it, may no longer lead to another branch. */
  moved(top: Id): void {
    for (const id of this.#shape.subtree(top)) {
      this.#doubtful.add(id)
      this.doubt(this.of(id))
    }
  }

  /** A leaf that has got its first child passes its spare edges to it, where it needs some: it no longer needs them. */
  inherit(edit: GraphEdit<Id>, child: Id, parent: Id): void {
    if (!this.#lacks(child) || this.#shape.childrenOf(parent).size > 1) return
    for (const other of this.of(parent)) {
      if (this.#graph.freeSlots(child) === 0 || !this.#graph.connectable(child, other)) continue
      if (this.#chooser.reluctance(child, other) >= 1) continue
      edit.disconnect(parent, other)
      edit.connect(child, other)
    }
  }

  /** Removes one spare edge of a node without free slots, if possible one that no leaf depends on. */
  makeRoom(edit: GraphEdit<Id>, id: Id): void {
    if (this.#graph.freeSlots(id) > 0) return
    const spares = this.of(id)
    const spare = spares.find((other) => !this.#dependsOn(other, id)) ?? spares[0]
    if (spare === undefined) throw new Error(`${id} has no place for a child`)
    edit.disconnect(id, spare)
    this.doubt([id, spare])
  }

  /** Removes a spare edge of the node that neither of its ends depends on. False when there is none. */
  dropSurplus(edit: GraphEdit<Id>, id: Id, mayChange: (id: Id) => boolean): boolean {
    const surplus = this.of(id).find(
      (other) => mayChange(other) && !this.#dependsOn(id, other) && !this.#dependsOn(other, id),
    )
    if (surplus === undefined) return false
    edit.disconnect(id, surplus)
    return true
  }

  /** Gives every leaf that lacks one a spare edge, as far as there are free slots. */
  settle(edit: GraphEdit<Id>, reluctance = this.#chooser.reluctance): void {
    const { root } = this.#shape
    const branches = root === undefined ? 0 : this.#shape.childrenOf(root).size
    // A second branch is another one to lead to.
    if (this.#branches < 2 && branches > 1) this.doubt(this.#graph.nodes())
    this.#branches = branches
    const lacking = new Set([...this.#doubtful].filter((id) => this.#graph.has(id) && this.#lacks(id)))
    this.#doubtful.clear()
    for (const id of lacking) if (this.#lacks(id)) this.#find(edit, id, [...lacking], reluctance)
  }

  #find(edit: GraphEdit<Id>, id: Id, lacking: readonly Id[], reluctance: Chooser<Id>['reluctance']): void {
    const { random } = this.#chooser
    const { open } = this.#graph
    this.makeRoom(edit, id)
    const branch = this.#shape.branchOf(id)
    const cost = (other: Id): number => {
      if (!this.#graph.connectable(id, other) || this.#graph.freeSlots(other) === 0) return Infinity
      const other_ = this.#shape.branchOf(other)
      return reluctance(id, other) + (other_ === branch ? sameBranch : 0)
    }
    const pair = cheapest(lacking.length, (position) => lacking[position] as Id, cost, random)
    const any =
      pair?.cost === 0 ? undefined : cheapest(open.size, (position) => open.at(position), cost, random)
    const choice = (any?.cost ?? Infinity) < (pair?.cost ?? Infinity) ? any : pair
    // A spare edge within its branch counts only where there is no other branch.
    const isUseful =
      (choice?.cost ?? Infinity) < sameBranch || (this.#branches < 2 && this.of(id).length === 0)
    if (choice !== undefined && isUseful) edit.connect(id, choice.value)
    else this.#doubtful.add(id)
  }

  #lacks(id: Id): boolean {
    return (
      this.#shape.isLeaf(id) &&
      id !== this.#shape.root &&
      !this.of(id).some((other) => this.#serves(id, other))
    )
  }

  /** Whether a node would lack a spare edge without this one. */
  #dependsOn(id: Id, other: Id): boolean {
    return (
      this.#shape.isLeaf(id) &&
      this.#serves(id, other) &&
      !this.of(id).some((another) => another !== other && this.#serves(id, another))
    )
  }

  #serves(id: Id, other: Id): boolean {
    const [branch, another] = [this.#shape.branchOf(id), this.#shape.branchOf(other)]
    return this.#branches < 2 || (branch !== another && another !== undefined)
  }
}
