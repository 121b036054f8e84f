/**
 * What the nodes of an overlay the tracker does not know (it was restarted, say) report about it, until there is enough
 * to take it over.
 */
export class Claims<Id extends string> {
  readonly #neighboursOf = new Map<Id, ReadonlySet<Id>>()
  readonly #awaited = new Set<Id>()
  /** Those that have no neighbours. */
  readonly #alone = new Set<Id>()

  get size(): number {
    return this.#neighboursOf.size
  }

  /** Whether somebody claims a neighbour who has not reported yet. */
  get incomplete(): boolean {
    return this.#awaited.size > 0
  }

  /** Whether somebody has no neighbours, and waits for some. */
  get someoneIsAlone(): boolean {
    return this.#alone.size > 0
  }

  has(id: Id): boolean {
    return this.#neighboursOf.has(id)
  }

  /**
   * The newest report of a node counts. `isKnown` says who need not report any more. Only its first report makes others
   * awaited, so that there are not more of them than a status has neighbours.
   */
  add(id: Id, neighbours: ReadonlySet<Id>, isKnown: (id: Id) => boolean): void {
    const isFirst = !this.#neighboursOf.has(id)
    this.#neighboursOf.set(id, neighbours)
    this.#awaited.delete(id)
    if (neighbours.size === 0) this.#alone.add(id)
    else this.#alone.delete(id)
    if (!isFirst) return
    for (const neighbour of neighbours) {
      if (!this.#neighboursOf.has(neighbour) && !isKnown(neighbour)) this.#awaited.add(neighbour)
    }
  }

  /** More is known now: nobody waits any more for those that `isKnown` in every claim. */
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
    return this.#neighboursOf.delete(id)
  }

  /** All reports, in the order of each node's first; there are none afterwards. */
  take(): ReadonlyMap<Id, ReadonlySet<Id>> {
    const taken = new Map(this.#neighboursOf)
    this.#neighboursOf.clear()
    this.#awaited.clear()
    this.#alone.clear()
    return taken
  }
}

/** The edges both of whose ends claim them, each once. */
export function mutualEdges<Id extends string>(
  claims: ReadonlyMap<Id, ReadonlySet<Id>>,
): (readonly [Id, Id])[] {
  const edges: (readonly [Id, Id])[] = []
  for (const [a, neighbours] of claims) {
    for (const b of neighbours) if (a < b && claims.get(b)?.has(a)) edges.push([a, b])
  }
  return edges
}
