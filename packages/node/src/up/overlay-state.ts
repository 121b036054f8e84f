import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { NodeSnapshot } from '../snapshot.ts'

/** Neighbours each node of an overlay of `size` nodes has; where size · degree is odd, one node has one fewer. */
function expectedDegree(size: number, degree: number): number {
  return Math.max(0, Math.min(degree, size - 1))
}

/** Whether an overlay of exactly these nodes is what a tracker would build: symmetric, and of exact degree. */
export function isOverlayComplete(
  snapshots: readonly NodeSnapshot[],
  streamPartId: StreamPartId,
  degree: number,
): boolean {
  const neighbours = new Map(
    snapshots.map((snapshot) => [snapshot.nodeId, neighboursOf(snapshot, streamPartId)]),
  )
  const expected = expectedDegree(snapshots.length, degree)
  const openSlots = [...neighbours.values()].map((set) => expected - set.size)
  const allowedOpenSlots = (snapshots.length * expected) % 2
  return (
    openSlots.every((open) => open >= 0) &&
    openSlots.reduce((sum, open) => sum + open, 0) === allowedOpenSlots &&
    isSymmetric(neighbours)
  )
}

/** Ids of a node's neighbours in a stream part; empty when it has not joined it. */
export function neighboursOf(snapshot: NodeSnapshot, streamPartId: StreamPartId): ReadonlySet<NodeId> {
  const part = snapshot.streamParts.find((candidate) => candidate.streamPartId === streamPartId)
  return new Set(part?.neighbours.map((neighbour) => neighbour.nodeId))
}

function isSymmetric(neighbours: ReadonlyMap<NodeId, ReadonlySet<NodeId>>): boolean {
  for (const [nodeId, set] of neighbours) {
    for (const neighbour of set) if (!neighbours.get(neighbour)?.has(nodeId)) return false
  }
  return true
}
