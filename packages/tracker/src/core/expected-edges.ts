import type { NodeId } from '@runnel/protocol'
import type { Edge, GatheredOverlay } from './adoption.ts'
import type { Replica } from './replica.ts'

/**
 * Edges of the replica that at least one end does not deny, first those that neither denies: a report may be older than the
 * replica. Edges that both ends claim are left out, and those with an end that is not `admitted`.
 */
export function expectedEdges(
  { claims, replica }: GatheredOverlay,
  admitted: (id: NodeId, replica: Replica) => boolean,
): Edge[] {
  if (replica === undefined) return []
  const denies = (a: NodeId, b: NodeId) => !(claims.get(a)?.has(b) ?? true)
  const edges: Edge[] = []
  const disputed: Edge[] = []
  for (const [a, b] of replica.edges()) {
    const [byA, byB] = [denies(a, b), denies(b, a)]
    const isMutual = claims.has(a) && claims.has(b) && !byA && !byB
    if (isMutual || (byA && byB)) continue
    if (admitted(a, replica) && admitted(b, replica)) (byA || byB ? disputed : edges).push([a, b])
  }
  return [...edges, ...disputed]
}
