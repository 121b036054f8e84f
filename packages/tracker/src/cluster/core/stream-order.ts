import { responsibleTrackers, type NodeId, type StreamPartId } from '@runnel/protocol'

/**
 * Which trackers are responsible for a stream part, the one that should lead first: those the stream names, or else all
 * registered ones in the order of rendezvous hashing. The rule of the nodes (docs/decisions/010-tracker-cluster.md).
 */
export function trackerOrder(
  streamPartId: StreamPartId,
  registered: readonly NodeId[],
  own: readonly NodeId[] = [],
): readonly NodeId[] {
  if (own.length > 0) return own.filter((id) => registered.includes(id))
  return responsibleTrackers(streamPartId, registered, registered.length)
}

export interface Standing {
  readonly self: NodeId
  /** Who has it at present; undefined when nobody was chosen yet. */
  readonly current?: NodeId | undefined
  isLinked(id: NodeId): boolean
  /** Linked for so long that something may be given back to it. */
  isSettled(id: NodeId): boolean
}

/**
 * Who leads, as seen from one tracker: the first that can be reached from there. What somebody has already goes to an
 * earlier one only when that is there for good, so that nothing goes back and forth.
 */
export function leaderOf(order: readonly NodeId[], standing: Standing): NodeId {
  const { self, current } = standing
  for (const id of order) {
    if (id === self) return self
    if (id === current ? standing.isLinked(id) : standing.isSettled(id)) return id
    if (current === undefined && standing.isLinked(id)) return id
  }
  return self
}
