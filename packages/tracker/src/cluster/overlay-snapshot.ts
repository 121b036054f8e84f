import type { StreamPartId } from '@runnel/protocol'
import type { TrackerCore } from '../core/tracker-core.ts'
import type { ReplicatedNode } from './core/record.ts'

/** A stream part's overlay now, for replication; undefined when this tracker does not lead it, or does not know it yet. */
export function overlaySnapshot(core: TrackerCore, id: StreamPartId): readonly ReplicatedNode[] | undefined {
  const part = core.streamParts.get(id)
  if (part === undefined || !part.isKnown) return undefined
  const nodes: ReplicatedNode[] = []
  for (const nodeId of part.topology.nodes()) {
    const contact = core.nodes.get(nodeId)?.contact
    const neighbours = [...part.topology.neighbours(nodeId)].filter((other) => nodeId < other)
    if (contact !== undefined) nodes.push({ nodeId, contact, neighbours })
  }
  return nodes
}
