import { responsibleTrackers, type NodeId, type StreamPartId } from '@runnel/protocol'

/**
 * The trackers responsible for a stream part, the preferred leader first: those the stream names, or else all registered ones
 * in the order of rendezvous hashing. Nodes use the same rule (docs/decisions/010-tracker-cluster.md).
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
  /** The present leader; undefined when none was chosen yet. */
  readonly current?: NodeId | undefined
  isLinked(id: NodeId): boolean
  /** Linked for long enough that a stream part may be given back to it. */
  isSettled(id: NodeId): boolean
}

/**
 * Who leads, as seen from one tracker: the first that it can reach. A stream part that has a leader moves to an earlier tracker
 * only once that one is stable, so that it does not flap.
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
