import type { Contact, DetachReason, NodeId } from '@runnel/protocol'

/** The link to a peer, which all stream parts share. */
export interface LinkView {
  readonly state: 'closed' | 'opening' | 'open'
  /** A closed link is not opened before this time. */
  readonly retryAtMs: number
}

/** What a stream part and a peer have told each other. They are neighbours when both sent an attach. */
export interface EdgeView {
  readonly sent: boolean
  readonly received: boolean
  /** When our attach was last sent, and when first. */
  readonly sentAtMs: number
  readonly firstSentAtMs: number
  /** Set after a detach by the peer: no attach before this time. */
  readonly retryAtMs: number
  /** Since when no instruction wants it; undefined while one does. */
  readonly unwantedSinceMs: number | undefined
  /** Whether an instruction ever wanted it; if not, the peer attached on its own. */
  readonly wasWanted: boolean
  /** Its silence was reported. */
  readonly reported: boolean
  /** When we last told the peer that the edge may end; undefined when it may not. */
  readonly retiredAtMs: number | undefined
  /** The peer told us that the edge may end. */
  readonly released: boolean
}

export interface ReconcileInput {
  readonly wanted: ReadonlyMap<NodeId, Contact>
  /** Only peers with an open link have edges. */
  readonly edges: ReadonlyMap<NodeId, EdgeView>
  /** A peer that is missing here has a closed link that may be opened at once. */
  readonly links: ReadonlyMap<NodeId, LinkView>
  /** The link's round-trip time; undefined while it is not known. */
  rttOf(peerId: NodeId): number | undefined
  readonly nowMs: number
  readonly limits: ReconcileLimits
}

interface ReconcileLimits {
  readonly provisionalGraceMs: number
  readonly retireMs: number
  readonly maxRetiring: number
  readonly attachTimeoutMs: number
  readonly attachRetryMs: number
}

/** The steps that bring the neighbours closer to the wanted ones. */
export interface ReconcilePlan {
  readonly connect: readonly { readonly peerId: NodeId; readonly contact: Contact }[]
  readonly attach: readonly NodeId[]
  /** Edges that end. */
  readonly detach: readonly { readonly peerId: NodeId; readonly reason: DetachReason }[]
  /** Edges that may end as far as we are concerned; the peer has to be told, or told again. */
  readonly retire: readonly NodeId[]
  /** Wanted, linked, but silent for too long. */
  readonly silent: readonly NodeId[]
  /** All wanted neighbours are attached. */
  readonly settled: boolean
  /** When to look again if nothing happens before; Infinity if never. */
  readonly wakeAtMs: number
}

/**
 * Compares what is wanted with what is there and returns what to do. A pure function, so repeating it does no harm.
 *
 * Make before break: a neighbour that is no longer wanted stays until both ends have all their wanted ones attached, or until
 * `retireMs` have passed. Ours count as attached once they must have heard of it, too: two round-trip times after we told them.
 * A peer that attached before our instruction came stays `provisionalGraceMs`.
 */
export function reconcile(input: ReconcileInput): ReconcilePlan {
  const { wanted, edges, links, nowMs, limits } = input
  const connect: { peerId: NodeId; contact: Contact }[] = []
  const attach: NodeId[] = []
  const detach: { peerId: NodeId; reason: DetachReason }[] = []
  const retire: NodeId[] = []
  const silent: NodeId[] = []
  let settled = true
  let wakeAtMs = Infinity
  /** True when `dueMs` has come; otherwise it is remembered. */
  const isDue = (dueMs: number): boolean => {
    if (dueMs <= nowMs) return true
    wakeAtMs = Math.min(wakeAtMs, dueMs)
    return false
  }

  for (const [peerId, contact] of wanted) {
    const edge = edges.get(peerId)
    if (edge?.sent === true && edge.received) {
      // It was about to end, and is wanted again: the peer has to know.
      if (edge.retiredAtMs !== undefined) attach.push(peerId)
      continue
    }
    settled = false
    const link = links.get(peerId)
    if (link === undefined || link.state === 'closed') {
      if (isDue(link?.retryAtMs ?? nowMs)) connect.push({ peerId, contact })
    } else if (link.state === 'open') {
      if (edge?.sent !== true) {
        if (isDue(edge?.retryAtMs ?? nowMs)) attach.push(peerId)
      } else {
        if (isDue(edge.sentAtMs + limits.attachRetryMs)) attach.push(peerId)
        if (!edge.reported && isDue(edge.firstSentAtMs + limits.attachTimeoutMs)) silent.push(peerId)
      }
    }
  }

  /** Whether all wanted neighbours must have heard that they are attached, and none wants to end its edge. */
  const isFirm = (): boolean => {
    if (!settled) return false
    let heardAtMs = nowMs
    for (const peerId of wanted.keys()) {
      const edge = edges.get(peerId)
      if (edge?.retiredAtMs !== undefined || edge?.released !== false) return false
      heardAtMs = Math.max(heardAtMs, edge.sentAtMs + 2 * (input.rttOf(peerId) ?? limits.attachRetryMs))
    }
    return isDue(heardAtMs)
  }

  const surplus = new Set(surplusOf(input))
  for (const [peerId, edge] of edges) {
    if (wanted.has(peerId) || !edge.sent) continue
    const sinceMs = edge.unwantedSinceMs ?? nowMs
    if (edge.released && isFirm()) {
      detach.push({ peerId, reason: 'replaced' })
    } else if (!edge.wasWanted) {
      if (isDue(sinceMs + limits.provisionalGraceMs)) detach.push({ peerId, reason: 'not-wanted' })
    } else if (surplus.has(peerId) || isDue(sinceMs + limits.retireMs)) {
      detach.push({ peerId, reason: 'not-wanted' })
    } else if (isFirm() && isDue((edge.retiredAtMs ?? -Infinity) + limits.attachRetryMs)) {
      retire.push(peerId)
    }
  }
  return { connect, attach, detach, retire, silent, settled, wakeAtMs }
}

/** Of the unwanted neighbours, those that are detached at once because there are too many: the ones unwanted for longest. */
function surplusOf({ wanted, edges, limits: { maxRetiring } }: ReconcileInput): readonly NodeId[] {
  if (edges.size <= maxRetiring) return []
  return [...edges]
    .filter(([peerId, { sent, wasWanted }]) => sent && wasWanted && !wanted.has(peerId))
    .sort(([, a], [, b]) => (b.unwantedSinceMs ?? 0) - (a.unwantedSinceMs ?? 0))
    .slice(maxRetiring)
    .map(([peerId]) => peerId)
}
