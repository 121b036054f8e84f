import { shortestDelaysMs } from '@runnel/sim/shortest-delays'
import { WeightedGraph } from '@runnel/sim/weighted-graph'

export interface Link {
  readonly a: number
  readonly b: number
  readonly delayMs: number
}

/**
 * The links of a greedy t-spanner (Althöfer, Das, Dobkin, Joseph and Soares, 1993): from the shortest to the longest, a pair gets a link of its own when the way over
 * the links so far takes more than `stretch` times as long.
 */
export function greedySpanner(
  nodes: number,
  delayMs: (a: number, b: number) => number,
  stretch: number,
): Link[] {
  const graph = new WeightedGraph(nodes)
  const links: Link[] = []
  for (const link of pairsOf(nodes, delayMs).sort((x, y) => x.delayMs - y.delayMs)) {
    const overLinksMs = shortestDelaysMs(graph, link.a)[link.b] ?? Infinity
    if (overLinksMs <= stretch * link.delayMs) continue
    graph.connect(link.a, link.b, link.delayMs)
    links.push(link)
  }
  return links
}

/** How much longer the way over the links takes, for every pair. */
export function stretchesOf(
  nodes: number,
  delayMs: (a: number, b: number) => number,
  links: readonly Link[],
): number[] {
  const graph = graphOf(nodes, links)
  const overLinksMs = Array.from({ length: nodes }, (_, node) => shortestDelaysMs(graph, node))
  return pairsOf(nodes, delayMs).map(
    ({ a, b, delayMs: direct }) => (overLinksMs[a]?.[b] ?? Infinity) / direct,
  )
}

export function graphOf(nodes: number, links: readonly Link[]): WeightedGraph {
  const graph = new WeightedGraph(nodes)
  for (const { a, b, delayMs } of links) graph.connect(a, b, delayMs)
  return graph
}

function pairsOf(nodes: number, delayMs: (a: number, b: number) => number): Link[] {
  const pairs: Link[] = []
  for (let a = 0; a < nodes; a++)
    for (let b = a + 1; b < nodes; b++) pairs.push({ a, b, delayMs: delayMs(a, b) })
  return pairs
}
