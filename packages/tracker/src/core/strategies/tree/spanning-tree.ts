import type { BoundedGraph } from '../../topology/bounded-graph.ts'

/**
 * Breadth-first trees of the graph's edges: each node once, after its parent. A node of `starts` that no earlier tree reaches
 * begins a tree of its own. O(nodes + edges).
 */
export function* spanningTree<Id extends string>(
  graph: BoundedGraph<Id>,
  starts: Iterable<Id>,
): Generator<{ readonly id: Id; readonly parent: Id | undefined }> {
  const seen = new Set<Id>()
  for (const start of starts) {
    if (seen.has(start)) continue
    seen.add(start)
    yield { id: start, parent: undefined }
    const queue = [start]
    for (const parent of queue) {
      for (const id of graph.linksOf(parent).keys()) {
        if (seen.has(id)) continue
        seen.add(id)
        queue.push(id)
        yield { id, parent }
      }
    }
  }
}

/** A node in the middle of a long shortest path; undefined in an empty graph. O(nodes + edges). */
export function centreOf<Id extends string>(graph: BoundedGraph<Id>): Id | undefined {
  const [first] = graph.nodes()
  if (first === undefined) return undefined
  const parents = (start: Id) =>
    new Map([...spanningTree(graph, [start])].map(({ id, parent }) => [id, parent]))
  const [end] = [...parents(first).keys()].slice(-1)
  if (end === undefined) return first
  const above = parents(end)
  const path: Id[] = []
  for (let at = [...above.keys()].at(-1); at !== undefined; at = above.get(at)) path.push(at)
  return path[path.length >> 1]
}
