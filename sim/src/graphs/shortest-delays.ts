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

/**
 * The mean delay from every node to every other, followed from some of them only, two at least. Delays are the same both ways, so
 * comparing delays to the sources with delays to all nodes shows how remote the sources are, and corrects their mean by that.
 */
export function meanDelayOfAllMs(graph: WeightedGraph, sources: readonly number[]): number {
  const sumsMs = new Float64Array(graph.nodes)
  for (const source of sources)
    for (const [node, delayMs] of shortestDelaysMs(graph, source).entries())
      sumsMs[node] = (sumsMs[node] ?? 0) + delayMs
  const ofSources = new Set(sources)
  let [toAllMs, toSourcesMs] = [0, 0]
  for (const [node, sumMs] of sumsMs.entries()) {
    const isSource = ofSources.has(node)
    const delayMs = sumMs / (isSource ? sources.length - 1 : sources.length)
    toAllMs += delayMs / graph.nodes
    if (isSource) toSourcesMs += delayMs / sources.length
  }
  return toAllMs === Infinity ? Infinity : 2 * toAllMs - toSourcesMs
}

/** Nodes by their delay, each at most once. */
class NodeHeap {
  readonly #delaysMs: Float64Array
  readonly #heap: Int32Array
  /** Where a node is in the heap; -1 when it is not. */
  readonly #places: Int32Array
  #size = 0

  constructor(delaysMs: Float64Array) {
    this.#delaysMs = delaysMs
    this.#heap = new Int32Array(delaysMs.length)
    this.#places = new Int32Array(delaysMs.length).fill(-1)
  }

  /** Puts a node in, or to its new place after its delay became less. */
  lower(node: number): void {
    const place = this.#places[node] ?? -1
    this.#siftUp(node, place === -1 ? this.#size++ : place)
  }

  pop(): number | undefined {
    if (this.#size === 0) return undefined
    const first = this.#heap[0] ?? 0
    const last = this.#heap[--this.#size] ?? 0
    this.#places[first] = -1
    if (first !== last) this.#siftDown(last)
    return first
  }

  #siftUp(node: number, from: number): void {
    const [heap, delaysMs] = [this.#heap, this.#delaysMs]
    const delayMs = delaysMs[node] ?? 0
    let at = from
    while (at > 0) {
      const parentAt = (at - 1) >> 1
      const parent = heap[parentAt] ?? 0
      if ((delaysMs[parent] ?? 0) <= delayMs) break
      this.#put(parent, at)
      at = parentAt
    }
    this.#put(node, at)
  }

  #siftDown(node: number): void {
    const [heap, delaysMs, size] = [this.#heap, this.#delaysMs, this.#size]
    const delayMs = delaysMs[node] ?? 0
    let at = 0
    for (;;) {
      let childAt = 2 * at + 1
      if (childAt >= size) break
      let child = heap[childAt] ?? 0
      const right = heap[childAt + 1] ?? 0
      if (childAt + 1 < size && (delaysMs[right] ?? 0) < (delaysMs[child] ?? 0)) {
        childAt++
        child = right
      }
      if ((delaysMs[child] ?? 0) >= delayMs) break
      this.#put(child, at)
      at = childAt
    }
    this.#put(node, at)
  }

  #put(node: number, at: number): void {
    this.#heap[at] = node
    this.#places[node] = at
  }
}
