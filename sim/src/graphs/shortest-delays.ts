import type { WeightedGraph } from './weighted-graph.ts'

/**
 * The delay of the shortest way from `source` to every node (Dijkstra, with a binary heap); Infinity where there is none.
 * Flooding brings every message that way when links keep their delay.
 */
export function shortestDelaysMs(graph: WeightedGraph, source: number): Float64Array {
  const delaysMs = new Float64Array(graph.nodes).fill(Infinity)
  delaysMs[source] = 0
  const heap = new NodeHeap(delaysMs)
  heap.lower(source)
  for (let node = heap.pop(); node !== undefined; node = heap.pop()) {
    const sofarMs = delaysMs[node] ?? Infinity
    for (const { to, delayMs } of graph.edgesOf(node)) {
      const thisWayMs = sofarMs + delayMs
      if (thisWayMs >= (delaysMs[to] ?? Infinity)) continue
      delaysMs[to] = thisWayMs
      heap.lower(to)
    }
  }
  return delaysMs
}

/** The mean delay by the shortest way, from each of the sources to every other node. */
export function meanDelayMs(graph: WeightedGraph, sources: readonly number[]): number {
  let sumMs = 0
  for (const source of sources)
    sumMs += shortestDelaysMs(graph, source).reduce((sum, delayMs) => sum + delayMs, 0)
  return sumMs / (sources.length * (graph.nodes - 1))
}

/** Nodes by their delay, each at most once. */
class NodeHeap {
  readonly #delaysMs: Float64Array
  readonly #heap: number[] = []
  /** Where a node is in the heap; -1 when it is not. */
  readonly #places: Int32Array

  constructor(delaysMs: Float64Array) {
    this.#delaysMs = delaysMs
    this.#places = new Int32Array(delaysMs.length).fill(-1)
  }

  /** Puts a node in, or to its new place after its delay became less. */
  lower(node: number): void {
    const place = this.#places[node] ?? -1
    this.#siftUp(node, place === -1 ? this.#heap.push(node) - 1 : place)
  }

  pop(): number | undefined {
    const first = this.#heap[0]
    const last = this.#heap.pop()
    if (first === undefined || last === undefined) return undefined
    this.#places[first] = -1
    if (first !== last) this.#siftDown(last)
    return first
  }

  #siftUp(node: number, from: number): void {
    let at = from
    while (at > 0) {
      const parentAt = (at - 1) >> 1
      const parent = this.#heap[parentAt] ?? 0
      if (this.#delayOf(parent) <= this.#delayOf(node)) break
      this.#put(parent, at)
      at = parentAt
    }
    this.#put(node, at)
  }

  #siftDown(node: number): void {
    let at = 0
    for (;;) {
      const left = this.#heap[2 * at + 1]
      const right = this.#heap[2 * at + 2]
      const isRight = left !== undefined && right !== undefined && this.#delayOf(right) < this.#delayOf(left)
      const child = isRight ? right : left
      if (child === undefined || this.#delayOf(child) >= this.#delayOf(node)) break
      this.#put(child, at)
      at = 2 * at + (isRight ? 2 : 1)
    }
    this.#put(node, at)
  }

  #put(node: number, at: number): void {
    this.#heap[at] = node
    this.#places[node] = at
  }

  #delayOf(node: number): number {
    return this.#delaysMs[node] ?? Infinity
  }
}
