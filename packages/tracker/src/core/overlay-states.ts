/** How much a tracker knows of an overlay. */
export type OverlayState =
  /** No node is in it, and nothing is known of it: the first node begins it. */
  | 'new'
  /** Its last leader left a replica; no node has reported yet. Newcomers wait. */
  | 'foreseen'
  /** Nodes report the neighbours they have; nothing is taken over yet. Newcomers wait. */
  | 'gathering'
  /** An overlay is here, and nodes of another one report theirs. Newcomers join. */
  | 'merging'
  /** Begun here, or taken over. Newcomers join. */
  | 'settled'

/** What determines the state. */
export interface OverlayKnowledge {
  /** Nodes that wait for their overlay to be taken over. */
  readonly claimed: number
  /** Nodes in the overlay. */
  readonly placed: number
  readonly hasReplica: boolean
}

export function overlayStateOf({ claimed, placed, hasReplica }: OverlayKnowledge): OverlayState {
  if (placed > 0) return claimed > 0 ? 'merging' : 'settled'
  if (claimed > 0) return 'gathering'
  return hasReplica ? 'foreseen' : 'new'
}
