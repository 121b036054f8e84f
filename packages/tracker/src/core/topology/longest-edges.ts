type Edge<Id extends string> = readonly [Id, Id]

/**
 * The longest edges of each node: at least `perNode` of them where it has as many of a known length. Edges that are among the
 * longest of both of their ends are preferred, so that few suffice.
 */
export function longestEdges<Id extends string>(
  edges: readonly Edge<Id>[],
  perNode: number,
  lengthMs: (a: Id, b: Id) => number | undefined,
): ReadonlySet<Edge<Id>> {
  const lengths = new Map<Edge<Id>, number>()
  for (const edge of edges) {
    const ms = lengthMs(...edge)
    if (ms !== undefined) lengths.set(edge, ms)
  }
  const byLength = [...lengths].sort(([, a], [, b]) => b - a).map(([edge]) => edge)
  const longest = new Set<Edge<Id>>()
  const counts = new Map<Id, number>()
  const lacks = (id: Id): boolean => (counts.get(id) ?? 0) < perNode
  const take = (edge: Edge<Id>): void => {
    longest.add(edge)
    for (const id of edge) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  for (const edge of byLength) if (edge.every(lacks)) take(edge)
  for (const edge of byLength) if (!longest.has(edge) && edge.some(lacks)) take(edge)
  return longest
}
