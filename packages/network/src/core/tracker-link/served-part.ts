import type { NodeId } from '@runnel/protocol'

/** A joined stream part, as the choice of its tracker sees it. */
export interface ServedPart {
  /** The connected tracker that serves it. */
  home: NodeId | undefined
  /** Whether a tracker has ever told it its neighbours. */
  instructed: boolean
  /** Since when its home owes it the first instruction; undefined when it does not. */
  askedAtMs: number | undefined
  /** When its home was last told that it is the one, because another tracker took itself for it. */
  contradictedAtMs: number
  /** How often its home was asked for that without an answer. */
  unanswered: number
  /** Connected trackers that owed it the first instruction for too long. */
  readonly silent: Set<NodeId>
  /** Trackers that served it before, and when each is told that they no longer do. */
  readonly farewells: Map<NodeId, number>
}

export function newServedPart(): ServedPart {
  return {
    home: undefined,
    instructed: false,
    askedAtMs: undefined,
    contradictedAtMs: -Infinity,
    unanswered: 0,
    silent: new Set(),
    farewells: new Map(),
  }
}
