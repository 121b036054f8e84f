import type { NodeId } from '@runnel/protocol'

/** What is needed of an open connection to choose between two. */
export interface Contender {
  readonly direction: 'outbound' | 'inbound'
  /** When it opened here, in milliseconds. */
  readonly openedMs: number
}

/**
 * Whether a connection that has just opened replaces the present one to the same peer.
 *
 * Nobody dials while it has a link. So a second connection by the same dialler, or one that opens long after the first, means
 * that the first is lost and only this side does not know yet: the new one is used. Otherwise both sides have dialled at the
 * same time, and both use the connection that the lower id dialled.
 */
export function isNewOneUsed(
  { self, peer, raceWindowMs }: { self: NodeId; peer: NodeId; raceWindowMs: number },
  present: Contender,
  opened: Contender,
): boolean {
  if (present.direction === opened.direction) return true
  if (opened.openedMs - present.openedMs > raceWindowMs) return true
  return (opened.direction === 'outbound') === self < peer
}
