import type { BoundedGraph } from './bounded-graph.ts'

/** The changes of one operation to a graph: applies them and remembers which nodes' neighbour sets differ in the end. */
export class GraphEdit<Id extends string> {
  readonly graph: BoundedGraph<Id>
  readonly #marked = new Set<Id>()
  // For each node the neighbours added or removed; one that was both is in its old state and drops out.
  readonly #toggled = new Map<Id, Set<Id>>()

  constructor(graph: BoundedGraph<Id>) {
    this.graph = graph
  }

  connect(a: Id, b: Id, near = false): void {
    this.graph.connect(a, b, near)
    this.#toggle(a, b)
    this.#toggle(b, a)
  }

  disconnect(a: Id, b: Id): void {
    this.graph.disconnect(a, b)
    this.#toggle(a, b)
    this.#toggle(b, a)
  }

  /** Both ends believe in an edge that is not in the graph: they count as changed, unless it is made. Call it once per edge. */
  miss(a: Id, b: Id): void {
    if (this.#toggled.get(a)?.has(b)) return
    this.#toggle(a, b)
    this.#toggle(b, a)
  }

  /** Counts `id` as changed whatever happens to its edges. */
  mark(id: Id): void {
    this.#marked.add(id)
  }

  /** The nodes, of those still in the graph, whose neighbour set has changed. */
  changed(): Set<Id> {
    const ids = new Set(this.#marked)
    for (const [id, neighbours] of this.#toggled) {
      if (neighbours.size > 0 && this.graph.has(id)) ids.add(id)
    }
    return ids
  }

  #toggle(id: Id, neighbour: Id): void {
    const toggled = this.#toggled.get(id)
    if (toggled === undefined) this.#toggled.set(id, new Set([neighbour]))
    else if (!toggled.delete(neighbour)) toggled.add(neighbour)
  }
}
