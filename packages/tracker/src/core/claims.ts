/**
 * The reports of nodes about an overlay that the tracker does not know, for example after a restart, until there are enough to
 * take it over.
 */
export class Claims<Id extends string> {
  readonly #neighboursOf = new Map<Id, ReadonlySet<Id>>()
  /** The instruction that each report is based on. */
  readonly #counters = new Map<Id, number>()
  readonly #awaited = new Set<Id>()
  /** Nodes that have reported neighbours once. */
  readonly #named = new Set<Id>()
  /** Nodes that have no neighbours. */
  readonly #alone = new Set<Id>()

  get size(): number {
    return this.#neighboursOf.size
  }

  /** Whether a node claims a neighbour that has not reported yet. */
  get incomplete(): boolean {
    return this.#awaited.size > 0
  }

  /** Nodes that have no neighbours, and wait for some. */
  get alone(): ReadonlySet<Id> {
    return this.#alone
  }

  /** All reports, in the order of each node's first. */
  get all(): ReadonlyMap<Id, ReadonlySet<Id>> {
    return this.#neighboursOf
  }

  /** What a node has reported; undefined when it has not. */
  of(id: Id): ReadonlySet<Id> | undefined {
    return this.#neighboursOf.get(id)
  }

  has(id: Id): boolean {
    return this.#neighboursOf.has(id)
  }

  /**
   * Keeps the newest report of a node: one about an older instruction than the report before took a longer route, and changes
   * nothing (false). `isKnown` says which nodes need not report any more. Only the first report that names neighbours makes the
   * tracker wait for them, so that it waits for no more of them than a status can name.
   */
  add(id: Id, counter: number, neighbours: ReadonlySet<Id>, isKnown: (id: Id) => boolean): boolean {
    if (counter < (this.#counters.get(id) ?? 0)) return false
    this.#counters.set(id, counter)
    this.#neighboursOf.set(id, neighbours)
    // A node without neighbours that others claim was reported in an old state, or has lost them: more reports may follow.
    if (neighbours.size === 0) this.#alone.add(id)
    else {
      this.#alone.delete(id)
      this.#awaited.delete(id)
    }
    if (neighbours.size === 0 || this.#named.has(id)) return true
    this.#named.add(id)
    for (const neighbour of neighbours) {
      if ((this.of(neighbour)?.size ?? 0) === 0 && !isKnown(neighbour)) this.#awaited.add(neighbour)
    }
    return true
  }

  /** The node stops, or starts again, to wait for neighbours. */
  setAlone(id: Id, isAlone: boolean): void {
    if (isAlone && this.has(id)) this.#alone.add(id)
    else this.#alone.delete(id)
  }

  /** More is known now: nodes that `isKnown` in every claim are no longer awaited. */
  recheck(isKnown: (id: Id, neighbour: Id) => boolean): void {
    const awaited = [...this.#awaited]
    this.#awaited.clear()
    const claims = [...this.#neighboursOf]
    for (const id of awaited) {
      if (claims.some(([by, neighbours]) => neighbours.has(id) && !isKnown(by, id))) this.#awaited.add(id)
    }
  }

  delete(id: Id): boolean {
    this.#alone.delete(id)
    this.#counters.delete(id)
    return this.#neighboursOf.delete(id)
  }

  /** Removes and returns all reports. */
  take(): ReadonlyMap<Id, ReadonlySet<Id>> {
    const taken = new Map(this.#neighboursOf)
    this.#neighboursOf.clear()
    this.#counters.clear()
    this.#awaited.clear()
    this.#named.clear()
    this.#alone.clear()
    return taken
  }
}

/** The edges that both ends claim, each once. */
export function mutualEdges<Id extends string>(
  claims: ReadonlyMap<Id, ReadonlySet<Id>>,
): (readonly [Id, Id])[] {
  const edges: (readonly [Id, Id])[] = []
  for (const [a, neighbours] of claims) {
    for (const b of neighbours) if (a < b && claims.get(b)?.has(a)) edges.push([a, b])
  }
  return edges
}
