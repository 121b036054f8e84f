import type { BoundedGraph } from './bounded-graph.ts'

/**
 * Up to this many nodes half of the edges stay random: groups of nearby nodes are small, few near edges hold them together, and
 * one far edge each would be too few for direct paths to all other groups. In larger ones the second far edge costs more than it brings.
 */
const smallOverlay = 100

/** Random edges of one node that are not exchanged for near ones in an overlay of `size` nodes. */
export function randomEdgesPerNode(size: number, degree: number): number {
  return size <= smallOverlay ? Math.max(1, Math.round(degree / 2)) : leastRandomEdges(degree)
}

/** Random edges added to nodes that have fewer. An overlay that shrinks has enough of these, and need not change. */
function leastRandomEdges(degree: number): number {
  return Math.max(1, Math.round(degree / 4))
}

/** Whether a node has fewer random edges than an overlay of any size keeps. */
export function lacksRandom<Id extends string>(graph: BoundedGraph<Id>, id: Id): boolean {
  return randomEdges(graph, id) < leastRandomEdges(graph.degree)
}

/** How many edges of a node were drawn without regard to distance. */
export function randomEdges<Id extends string>(graph: BoundedGraph<Id>, id: Id): number {
  let count = 0
  for (const { near } of graph.linksOf(id).values()) if (!near) count++
  return count
}
