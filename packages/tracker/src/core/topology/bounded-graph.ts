import { IndexedSet } from './indexed-set.ts'
import type { ReadonlyIndexedSet } from './indexed-set.ts'

/** An undirected edge; one object per edge, found from both of its ends. */
export interface Edge<Id extends string> {
  readonly a: Id
  readonly b: Id
  /** Chosen because its ends are near each other; all others were drawn without regard to distance. */
  readonly near: boolean
}

/**
 * A simple undirected graph in which no node has more than `degree` edges. Every operation on one edge is O(1), and
 * so is drawing a random edge or a random node with a free slot.
 */
export class BoundedGraph<Id extends string> {
  readonly degree: number
  readonly #links = new Map<Id, Map<Id, Edge<Id>>>()
  readonly #edges = new IndexedSet<Edge<Id>>()
  readonly #open = new IndexedSet<Id>()

  constructor(degree: number) {
    this.degree = degree
  }

  get size(): number {
    return this.#links.size
  }

  /** All edges, by position. */
  get edges(): ReadonlyIndexedSet<Edge<Id>> {
    return this.#edges
  }

  /** The nodes with at least one free slot, by position. */
  get open(): ReadonlyIndexedSet<Id> {
    return this.#open
  }

  has(id: Id): boolean {
    return this.#links.has(id)
  }

  nodes(): IterableIterator<Id> {
    return this.#links.keys()
  }

  adjacent(a: Id, b: Id): boolean {
    return this.#links.get(a)?.has(b) ?? false
  }

  /** Whether an edge between the two would be new and not a loop. Ignores free slots. */
  connectable(a: Id, b: Id): boolean {
    return a !== b && !this.adjacent(a, b)
  }

  /** The edges of `id` by the node at the other end. */
  linksOf(id: Id): ReadonlyMap<Id, Edge<Id>> {
    return this.#linksOf(id)
  }

  freeSlots(id: Id): number {
    return this.degree - this.#linksOf(id).size
  }

  addNode(id: Id): void {
    if (this.has(id)) throw new Error(`node ${id} is already there`)
    this.#links.set(id, new Map())
    this.#open.add(id)
  }

  /** Removes a node that has no edges any more. */
  removeNode(id: Id): void {
    if (this.#linksOf(id).size > 0) throw new Error(`node ${id} still has edges`)
    this.#links.delete(id)
    this.#open.delete(id)
  }

  connect(a: Id, b: Id, near = false): void {
    if (!this.connectable(a, b)) throw new Error(`an edge ${a} - ${b} would not be simple`)
    if (this.freeSlots(a) === 0 || this.freeSlots(b) === 0) throw new Error(`no free slots for ${a} - ${b}`)
    const edge = { a, b, near }
    this.#edges.add(edge)
    this.#link(a, b, edge)
    this.#link(b, a, edge)
  }

  disconnect(a: Id, b: Id): void {
    const edge = this.#linksOf(a).get(b)
    if (edge === undefined) throw new Error(`there is no edge ${a} - ${b}`)
    this.#edges.delete(edge)
    this.#unlink(a, b)
    this.#unlink(b, a)
  }

  #link(from: Id, to: Id, edge: Edge<Id>): void {
    this.#linksOf(from).set(to, edge)
    if (this.freeSlots(from) === 0) this.#open.delete(from)
  }

  #unlink(from: Id, to: Id): void {
    this.#linksOf(from).delete(to)
    this.#open.add(from)
  }

  #linksOf(id: Id): Map<Id, Edge<Id>> {
    const links = this.#links.get(id)
    if (links === undefined) throw new Error(`unknown node ${id}`)
    return links
  }
}
