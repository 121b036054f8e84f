/** How often a host is drawn at random for each one that is wanted: some are full, or cannot be reached. */
const drawsPerHost = 4

export interface GuestChoice<Id> {
  /** Hosts for each guest. One node has at most twice as many guests and hosts. */
  readonly degree: number
  readonly random: { next(): number }
  /** Whether the pair should rather not be connected. */
  avoids(a: Id, b: Id): boolean
}

/**
 * Edges for the time until an overlay is taken over: between nodes that have nobody yet and some that are in it, besides
 * all that those have. They let newcomers take part at once, and nothing is taken apart for them.
 */
export class Guests<Id extends string> {
  readonly #edges = new Map<Id, Set<Id>>()

  /** The other ends of a node's edges. */
  of(id: Id): ReadonlySet<Id> {
    return this.#edges.get(id) ?? new Set()
  }

  /** Guests and hosts. */
  ids(): IterableIterator<Id> {
    return this.#edges.keys()
  }

  has(id: Id): boolean {
    return this.#edges.has(id)
  }

  /** Finds hosts for a guest; those it got. */
  lodge(guest: Id, hosts: readonly Id[], { degree, random, avoids }: GuestChoice<Id>): readonly Id[] {
    const found: Id[] = []
    for (let draws = degree * drawsPerHost; draws > 0 && found.length < degree; draws--) {
      const host = hosts[Math.floor(random.next() * hosts.length)]
      if (host === undefined || host === guest || this.of(guest).has(host)) continue
      if (this.of(host).size >= 2 * degree || avoids(guest, host)) continue
      this.#connect(guest, host)
      this.#connect(host, guest)
      found.push(host)
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

  /** Ends all edges of a node. Who had them with it. */
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
