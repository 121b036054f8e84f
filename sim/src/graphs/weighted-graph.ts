export interface WeightedEdge {
  readonly to: number
  readonly delayMs: number
}

/** Nodes numbered from 0, and edges with a delay in each direction. */
export class WeightedGraph {
  readonly #edges: WeightedEdge[][]

  constructor(nodes: number) {
    this.#edges = Array.from({ length: nodes }, () => [])
  }

  get nodes(): number {
    return this.#edges.length
  }

  /** An edge both ways. */
  connect(a: number, b: number, delayMs: number, backMs = delayMs): void {
    this.#edges[a]?.push({ to: b, delayMs })
    this.#edges[b]?.push({ to: a, delayMs: backMs })
  }

  edgesOf(node: number): readonly WeightedEdge[] {
    return this.#edges[node] ?? []
  }
}
