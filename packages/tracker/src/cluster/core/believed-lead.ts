import type { NodeId } from '@runnel/protocol'

/** A tracker's statement about a stream part: it leads it, or no longer does. */
export interface Lead {
  readonly writer: NodeId
  /** Unix milliseconds. */
  readonly writtenAt: number
  /** Records of its replica; 0: it no longer leads the stream part. */
  readonly chunks: number
}

export interface Heir {
  readonly self: NodeId
  /** Whether a tracker cannot hand over what it leads itself. */
  isGone(tracker: NodeId): boolean
}

/**
 * Chooses the replica from which a tracker continues a stream part that it gets: that of the last leader, if it is down. A live
 * leader hands over; its records are ignored, and older replicas are out of date then. So is what this tracker wrote before its
 * own absence, if others have led the stream part since.
 */
export function believedLead(leads: readonly Lead[], { self, isGone }: Heir): Lead | undefined {
  const byTime = leads.toSorted((a, b) => b.writtenAt - a.writtenAt)
  const last = byTime.find(({ chunks }) => chunks > 0)
  if (last === undefined) return undefined
  if (last.writer === self) return byTime[0] === last ? last : undefined
  return isGone(last.writer) ? last : undefined
}
