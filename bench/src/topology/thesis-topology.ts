/**
 * The construction of the thesis (section 4.2.1), unchanged, with plain scans: the baseline for ours. It pairs nodes with free
 * slots, then cuts random edges for those with two or more.
 */
export class ThesisTopology {
  readonly #degree: number
  readonly #next: () => number
  readonly #neighbours = new Map<string, Set<string>>()

  constructor(degree: number, next: () => number) {
    this.#degree = degree
    this.#next = next
  }

  /** Adds a node and returns how many nodes' neighbours changed. */
  add(id: string): number {
    this.#neighbours.set(id, new Set())
    const changed = new Set<string>([id])
    let free = [...this.#neighbours.keys()].filter((node) => this.#free(node) > 0)
    for (let pair = this.#suitablePair(free); pair; pair = this.#suitablePair(free)) {
      this.#connect(pair[0], pair[1], changed)
      free = free.filter((node) => this.#free(node) > 0)
    }
    for (const node of free) {
      while (this.#free(node) >= 2) {
        const edge = this.#edgeAwayFrom(node)
        if (!edge) break
        this.#of(edge[0]).delete(edge[1])
        this.#of(edge[1]).delete(edge[0])
        this.#connect(node, edge[0], changed)
        this.#connect(node, edge[1], changed)
      }
    }
    return changed.size
  }

  #of(id: string): Set<string> {
    return this.#neighbours.get(id) ?? new Set()
  }

  #free(id: string): number {
    return this.#degree - this.#of(id).size
  }

  #connect(a: string, b: string, changed: Set<string>): void {
    this.#of(a).add(b)
    this.#of(b).add(a)
    changed.add(a).add(b)
  }

  #suitablePair(free: readonly string[]): [string, string] | undefined {
    const pairs: [string, string][] = []
    for (const a of free) for (const b of free) if (a < b && !this.#of(a).has(b)) pairs.push([a, b])
    return pairs[Math.floor(this.#next() * pairs.length)]
  }

  #edgeAwayFrom(node: string): [string, string] | undefined {
    const own = this.#of(node)
    const edges: [string, string][] = []
    for (const [a, others] of this.#neighbours) {
      if (a === node || own.has(a)) continue
      for (const b of others) if (a < b && b !== node && !own.has(b)) edges.push([a, b])
    }
    return edges[Math.floor(this.#next() * edges.length)]
  }
}
