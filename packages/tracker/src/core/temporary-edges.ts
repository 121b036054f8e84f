/** Random draws for each wanted edge: some members are full or cannot be reached. */
const drawsPerEdge = 4

export interface TemporaryEdgeChoice<Id> {
  /** Temporary edges for each newcomer. No node has more than twice as many. */
  readonly degree: number
  readonly random: { next(): number }
  /** Whether to avoid an edge between the pair. */
  avoids(a: Id, b: Id): boolean
}

/**
 * Edges that last until an overlay is taken over: between newcomers and members, in addition to the members' existing edges.
 * They let newcomers take part at once, without removing any other edge.
 */
export class TemporaryEdges<Id extends string> {
  readonly #edges = new Map<Id, Set<Id>>()

  /** The other ends of a node's edges. */
  of(id: Id): ReadonlySet<Id> {
    return this.#edges.get(id) ?? new Set()
  }

  /** Nodes that have temporary edges. */
  ids(): IterableIterator<Id> {
    return this.#edges.keys()
  }

  has(id: Id): boolean {
    return this.#edges.has(id)
  }

  /** Connects a node to members drawn at random. Returns those it was connected to. */
  add(node: Id, members: readonly Id[], { degree, random, avoids }: TemporaryEdgeChoice<Id>): readonly Id[] {
    const found: Id[] = []
    for (let draws = degree * drawsPerEdge; draws > 0 && found.length < degree; draws--) {
      const member = members[Math.floor(random.next() * members.length)]
      if (member === undefined || member === node || this.of(node).has(member)) continue
      if (this.of(member).size >= 2 * degree || avoids(node, member)) continue
      this.#connect(node, member)
      this.#connect(member, node)
      found.push(member)
    }
    return found
  }

  /** Ends one edge. False when there was none. */
  part(a: Id, b: Id): boolean {
    const wasThere = this.#edges.get(a)?.delete(b) ?? false
    this.#edges.get(b)?.delete(a)
    for (const id of [a, b]) if (this.of(id).size === 0) this.#edges.delete(id)
    return wasThere
  }

  /** Ends all edges of a node. Returns their other ends. */
  delete(id: Id): ReadonlySet<Id> {
    const others = new Set(this.of(id))
    for (const other of others) this.part(id, other)
    return others
  }

  clear(): void {
    this.#edges.clear()
  }

  #connect(from: Id, to: Id): void {
    const edges = this.#edges.get(from) ?? new Set<Id>()
    edges.add(to)
    this.#edges.set(from, edges)
  }
}
