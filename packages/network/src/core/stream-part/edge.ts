import type { NodeId } from '@runnel/protocol'
import type { EdgeView } from '../neighbours/reconcile.ts'

/** A stream part's side of an edge to a peer, whose link is open. */
export interface Edge extends EdgeView {
  sent: boolean
  received: boolean
  sentAtMs: number
  firstSentAtMs: number
  retryAtMs: number
  unwantedSinceMs: number | undefined
  wasWanted: boolean
  reported: boolean
  retiredAtMs: number | undefined
  released: boolean
  /** The user that the peer attached for; undefined while it has not attached. */
  userId: NodeId | undefined
  /** Until when that user may read, by the monotonic clock. */
  readsUntilMs: number
  /** The peer is a guest: nobody ordered the edge, and it forwards nothing. */
  isGuest: boolean
  /** Detaches by the peer in a row. */
  refusals: number
  /** When the peer last got a replay. */
  replayedMs: number
}

export function newEdge(wanted: boolean, nowMs: number): Edge {
  return {
    sent: false,
    received: false,
    sentAtMs: 0,
    firstSentAtMs: 0,
    retryAtMs: 0,
    unwantedSinceMs: wanted ? undefined : nowMs,
    wasWanted: wanted,
    reported: false,
    retiredAtMs: undefined,
    released: false,
    userId: undefined,
    readsUntilMs: Infinity,
    isGuest: false,
    refusals: 0,
    replayedMs: -Infinity,
  }
}

export function isAttached(edge: EdgeView | undefined): boolean {
  return edge !== undefined && edge.sent && edge.received
}
