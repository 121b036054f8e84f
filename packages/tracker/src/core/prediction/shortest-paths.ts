/** An undirected graph whose nodes are numbers from 0, with a cost for each edge. */
export interface WeightedGraph {
  /** The neighbours of each node. */
  readonly neighbours: readonly (readonly number[])[]
  /** The costs of the edges to them, in the same order; none below 0. */
  readonly costs: readonly (readonly number[])[]
}

/** The least cost from `source` to every node; Infinity where there is no path. Dijkstra's algorithm, O(e log n). */
export function shortestPaths({ neighbours, costs }: WeightedGraph, source: number): Float64Array {
  const best = new Float64Array(neighbours.length).fill(Infinity)
  const queue = new CostQueue()
  best[source] = 0
  queue.add(source, 0)
  for (let first = queue.take(); first !== undefined; first = queue.take()) {
    const { node, cost } = first
    // A node may be queued again at a lower cost before its turn: only its first turn counts.
    if (cost > (best[node] ?? Infinity)) continue
    for (const [i, neighbour] of (neighbours[node] ?? []).entries()) {
      const total = cost + (costs[node]?.[i] ?? Infinity)
      if (total >= (best[neighbour] ?? 0)) continue
      best[neighbour] = total
      queue.add(neighbour, total)
    }
  }
  return best
}

interface Queued {
  readonly node: number
  readonly cost: number
}

/** A binary heap: the node with the lowest cost comes first. */
class CostQueue {
  readonly #heap: Queued[] = []

  add(node: number, cost: number): void {
    const heap = this.#heap
    const queued = { node, cost }
    let place = heap.length
    heap.push(queued)
    for (;;) {
      const above = (place - 1) >> 1
      const parent = heap[above]
      if (place === 0 || parent === undefined || parent.cost <= cost) break
      heap[place] = parent
      place = above
    }
    heap[place] = queued
  }

  take(): Queued | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const below = (heap[left + 1]?.cost ?? Infinity) < (heap[left]?.cost ?? Infinity) ? left + 1 : left
      const child = heap[below]
      if (child === undefined || child.cost >= last.cost) break
      heap[place] = child
      place = below
    }
    heap[place] = last
    return first
  }
}
