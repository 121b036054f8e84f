import { IndexedSet, type ReadonlyIndexedSet } from '../../topology/indexed-set.ts'

interface Place<Id> {
  parent: Id | undefined
  readonly children: Set<Id>
  /** Edges to the root; undefined while its subtree is detached. */
  depth: number | undefined
}

/**
 * The parent of each node: a rooted tree in which no node has more than `degree` tree edges, and subtrees that are temporarily
 * detached. Attaching and detaching cost O(size of the subtree), which is O(log n) on average in a bushy tree.
 */
export class TreeShape<Id extends string> {
  readonly #degree: number
  readonly #places = new Map<Id, Place<Id>>()
  /** By depth: nodes that could have one more child. */
  readonly #open: IndexedSet<Id>[] = []
  #root: Id | undefined

  constructor(degree: number) {
    this.#degree = degree
  }

  get root(): Id | undefined {
    return this.#root
  }

  /** By depth: nodes that could have one more child. */
  get open(): readonly ReadonlyIndexedSet<Id>[] {
    return this.#open
  }

  parentOf(id: Id): Id | undefined {
    return this.#at(id).parent
  }

  childrenOf(id: Id): ReadonlySet<Id> {
    return this.#at(id).children
  }

  isLeaf(id: Id): boolean {
    return this.#at(id).children.size === 0
  }

  isAttached(id: Id): boolean {
    return this.#at(id).depth !== undefined
  }

  /** Whether the node could have one more child. */
  hasRoom(id: Id): boolean {
    return this.#hasRoom(id, this.#at(id))
  }

  /** Whether one of the two is the parent of the other. */
  isTreeEdge(a: Id, b: Id): boolean {
    return this.#at(a).parent === b || this.#at(b).parent === a
  }

  /** From the node itself up to the root of its subtree. */
  *pathUp(id: Id): Generator<Id> {
    for (let at: Id | undefined = id; at !== undefined; at = this.#at(at).parent) yield at
  }

  /** The child of the root in whose subtree a node is; undefined for the root. */
  branchOf(id: Id): Id | undefined {
    let branch: Id | undefined
    for (const at of this.pathUp(id)) if (at !== this.#root) branch = at
    return id === this.#root ? undefined : branch
  }

  isBelow(id: Id, ancestor: Id): boolean {
    for (const at of this.pathUp(id)) if (at === ancestor) return true
    return false
  }

  /** The node and all below it. */
  subtree(id: Id): Set<Id> {
    const found = new Set([id])
    // A Set may grow while it is iterated.
    for (const at of found) for (const child of this.#at(at).children) found.add(child)
    return found
  }

  /** Adds a detached node. */
  add(id: Id): void {
    this.#places.set(id, { parent: undefined, children: new Set(), depth: undefined })
  }

  /** Removes a node that has neither parent nor children. */
  delete(id: Id): void {
    this.#close(id)
    if (this.#root === id) this.#root = undefined
    this.#places.delete(id)
  }

  /** Makes the top of a detached subtree the root. */
  crown(id: Id): void {
    if (this.#root !== undefined) throw new Error('there is a root')
    this.#root = id
    this.#setDepths(id, 0)
  }

  /** The root becomes a detached node like any other; it must have no children. */
  dethrone(): void {
    if (this.#root === undefined) return
    this.#close(this.#root)
    this.#at(this.#root).depth = undefined
    this.#root = undefined
  }

  attach(id: Id, parent: Id): void {
    const above = this.#at(parent)
    this.#at(id).parent = parent
    above.children.add(id)
    if (above.depth === undefined) return
    if (!this.#hasRoom(parent, above)) this.#open[above.depth]?.delete(parent)
    this.#setDepths(id, above.depth + 1)
  }

  detach(id: Id): void {
    const place = this.#at(id)
    const { parent } = place
    if (parent === undefined) return
    const above = this.#at(parent)
    above.children.delete(id)
    if (above.depth !== undefined) this.#open[above.depth]?.add(parent)
    for (const below of this.subtree(id)) {
      this.#close(below)
      this.#at(below).depth = undefined
    }
    place.parent = undefined
  }

  /** Removes every edge. */
  scatter(): void {
    this.#open.length = 0
    this.#root = undefined
    for (const place of this.#places.values()) {
      place.parent = undefined
      place.depth = undefined
      place.children.clear()
    }
  }

  #setDepths(top: Id, depth: number): void {
    const place = this.#at(top)
    place.depth = depth
    for (const id of this.subtree(top)) {
      const at = this.#at(id)
      if (at.parent !== undefined && id !== top) at.depth = (this.#at(at.parent).depth ?? 0) + 1
      const level = at.depth ?? 0
      while (this.#open.length <= level) this.#open.push(new IndexedSet())
      if (this.#hasRoom(id, at)) this.#open[level]?.add(id)
    }
  }

  #close(id: Id): void {
    const { depth } = this.#at(id)
    if (depth !== undefined) this.#open[depth]?.delete(id)
  }

  #hasRoom(id: Id, { children }: Place<Id>): boolean {
    return children.size < (id === this.#root ? this.#degree : this.#degree - 1)
  }

  #at(id: Id): Place<Id> {
    const place = this.#places.get(id)
    if (place === undefined) throw new Error(`unknown node ${id}`)
    return place
  }
}
