import type { NodeId } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'

/** The wanted neighbours of each node, as one observer sees them. */
export interface WantedSet {
  readonly nodeId: NodeId
  readonly neighbours: number
}

/** At no time is a node wanted to have more neighbours than the degree. */
export function checkDegree(wanted: Iterable<WantedSet>, degree: number, breaches: Breaches): void {
  for (const { nodeId, neighbours } of wanted)
    if (neighbours > degree)
      breaches.report('degree', `${nodeId} is wanted to have ${neighbours} neighbours, ${degree} at most`)
}
