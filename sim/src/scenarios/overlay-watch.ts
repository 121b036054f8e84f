/** What a watch has seen since it began. */
export interface WatchReport {
  /** Whether there was a path between any two nodes at every instant. */
  readonly connectedThroughout: boolean
  /** Virtual time in all during which there was none between some. */
  readonly disconnectedMs: number
  /** The fewest and the most neighbours any node had, at every change. */
  readonly minAttachedThroughout: number
  readonly maxAttachedThroughout: number
  /** Changes of some node's neighbours that were looked at. */
  readonly changes: number
}

/**
 * Follows the attached neighbours of every node, change by change. An edge is there while both its ends have it: it comes
 * with the later of the two and goes with the first. A graph in one piece stays so as long as there is another way between the
 * ends of every edge that goes, so that each change costs a search from both ends and not one through the whole graph.
 */
export class OverlayWatch {
  readonly #neighbours: ReadonlySet<number>[]
  #attached = 0
  #changes = 0
  #sinceMs: number | undefined
  /** Since when the graph has been in pieces; undefined while it is in one. */
  #inPiecesSinceMs: number | undefined
  #disconnectedMs = 0
  #minDegree = Infinity
  #maxDegree = 0

  constructor(nodes: number) {
    this.#neighbours = Array.from({ length: nodes }, () => new Set<number>())
  }

  /** The neighbours that each node has attached. */
  get neighbours(): readonly ReadonlySet<number>[] {
    return this.#neighbours
  }

  /** Neighbours that nodes have attached to, in all, those that are gone among them. */
  get attached(): number {
    return this.#attached
  }

  get hasBegun(): boolean {
    return this.#sinceMs !== undefined
  }

  /** From now on what is wrong counts. */
  begin(atMs: number): void {
    if (this.#sinceMs !== undefined) return
    this.#sinceMs = atMs
    if (!this.#isInOnePiece()) this.#inPiecesSinceMs = atMs
    for (const { size } of this.#neighbours) this.#countDegree(size)
  }

  /** What was seen until `atMs`. */
  report(atMs: number): WatchReport {
    const inPiecesMs = this.#inPiecesSinceMs === undefined ? 0 : atMs - this.#inPiecesSinceMs
    const disconnectedMs = this.#disconnectedMs + inPiecesMs
    return {
      connectedThroughout: this.#sinceMs !== undefined && disconnectedMs === 0,
      disconnectedMs,
      minAttachedThroughout: this.#sinceMs === undefined ? 0 : this.#minDegree,
      maxAttachedThroughout: this.#maxDegree,
      changes: this.#changes,
    }
  }

  /** A node has other neighbours than before. */
  changed(node: number, neighbours: Iterable<number>, atMs: number): void {
    const before = this.#neighbours[node] ?? new Set()
    const now = new Set(neighbours)
    this.#neighbours[node] = now
    for (const other of now) if (!before.has(other)) this.#attached++
    if (this.#sinceMs === undefined) return
    this.#changes++
    this.#countDegree(now.size)
    const gone = [...before].filter((other) => !now.has(other) && this.#neighbours[other]?.has(node))
    if (this.#inPiecesSinceMs === undefined) {
      if (!gone.every((other) => this.#isWayBetween(node, other))) this.#inPiecesSinceMs = atMs
    } else if (this.#isInOnePiece()) {
      this.#disconnectedMs += atMs - this.#inPiecesSinceMs
      this.#inPiecesSinceMs = undefined
    }
  }

  #countDegree(degree: number): void {
    this.#minDegree = Math.min(this.#minDegree, degree)
    this.#maxDegree = Math.max(this.#maxDegree, degree)
  }

  #isInOnePiece(): boolean {
    const reached = new Set([0])
    for (const node of reached) for (const other of this.#edgesOf(node)) reached.add(other)
    return reached.size === this.#neighbours.length
  }

  /** Searches from both ends in turn, one node at a time: where the graph is well connected they meet soon. */
  #isWayBetween(a: number, b: number): boolean {
    let [near, far] = [new Search(a), new Search(b)]
    for (;;) {
      const node = near.next()
      if (node === undefined) return false
      for (const other of this.#edgesOf(node)) {
        if (far.reached.has(other)) return true
        near.reached.add(other)
      }
      ;[near, far] = [far, near]
    }
  }

  #edgesOf(node: number): number[] {
    return [...(this.#neighbours[node] ?? [])].filter((other) => this.#neighbours[other]?.has(node))
  }
}

/** Breadth first: nodes in the order in which they were reached, each once. */
class Search {
  readonly reached: Set<number>
  readonly #walk: Iterator<number>

  constructor(from: number) {
    this.reached = new Set([from])
    this.#walk = this.reached.values()
  }

  /** undefined when all that can be reached has been looked at. */
  next(): number | undefined {
    const { value, done } = this.#walk.next()
    return done === true ? undefined : value
  }
}
