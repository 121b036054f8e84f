import FlatQueue from 'flatqueue'
import type { WeightedGraph } from './weighted-graph.ts'

/**
 * The delay of the shortest way from `source` to every node (Dijkstra's algorithm); Infinity where there is none.
 * Flooding brings every message that way when links keep their delay.
 */
export function shortestDelaysMs(graph: WeightedGraph, source: number): Float64Array {
  const delaysMs = new Float64Array(graph.nodes).fill(Infinity)
  delaysMs[source] = 0
  const queue = new FlatQueue()
  queue.push(source, 0)
  for (let sofarMs = queue.peekValue(); sofarMs !== undefined; sofarMs = queue.peekValue()) {
    const node = queue.pop() ?? source
    // A node may be queued again with less delay before its turn: only its first turn counts.
    if (sofarMs > (delaysMs[node] ?? Infinity)) continue
    for (const { to, delayMs } of graph.edgesOf(node)) {
      const thisWayMs = sofarMs + delayMs
      if (thisWayMs >= (delaysMs[to] ?? Infinity)) continue
      delaysMs[to] = thisWayMs
      queue.push(to, thisWayMs)
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
