import FlatQueue from 'flatqueue'

/** An undirected graph whose nodes are numbers from 0, and what each edge costs. */
export interface WeightedGraph {
  /** The neighbours of each node. */
  readonly neighbours: readonly (readonly number[])[]
  /** The costs of the edges to them, in the same order; none below 0. */
  readonly costs: readonly (readonly number[])[]
}

/** The least cost from `source` to every node; Infinity where there is no path. Dijkstra's algorithm, O(e log n). */
export function shortestPaths({ neighbours, costs }: WeightedGraph, source: number): Float64Array {
  const best = new Float64Array(neighbours.length).fill(Infinity)
  const queue = new FlatQueue()
  best[source] = 0
  queue.push(source, 0)
  for (let cost = queue.peekValue(); cost !== undefined; cost = queue.peekValue()) {
    const node = queue.pop() ?? source
    // A node may be queued again at less before its turn: only its first turn counts.
    if (cost > (best[node] ?? Infinity)) continue
    for (const [i, neighbour] of (neighbours[node] ?? []).entries()) {
      const total = cost + (costs[node]?.[i] ?? Infinity)
      if (total >= (best[neighbour] ?? 0)) continue
      best[neighbour] = total
      queue.push(neighbour, total)
    }
  }
  return best
}
