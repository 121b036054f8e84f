import type { NodeId } from '@runnel/protocol'

/** What a tracker says of a stream part: it leads it, or does not any more. */
export interface Lead {
  readonly writer: NodeId
  /** In milliseconds since the epoch. */
  readonly writtenAt: number
  /** Records of its replica; 0: it does not lead it any more. */
  readonly chunks: number
}

export interface Heir {
  readonly self: NodeId
  /** Whether a tracker cannot hand over by itself what it leads. */
  isGone(tracker: NodeId): boolean
}

/**
 * Whose replica a stream part is continued from by the tracker it comes to: that of the last one that led it, if that is
 * gone. Who is there hands over, and what it writes all the same counts for nothing; older replicas are out of date then.
 * And so is what this tracker wrote before it was away, when others have led the stream part since.
 */
export function believedLead(leads: readonly Lead[], { self, isGone }: Heir): Lead | undefined {
  const byTime = leads.toSorted((a, b) => b.writtenAt - a.writtenAt)
  const last = byTime.find(({ chunks }) => chunks > 0)
  if (last === undefined) return undefined
  if (last.writer === self) return byTime[0] === last ? last : undefined
  return isGone(last.writer) ? last : undefined
}
