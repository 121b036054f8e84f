import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { TrackerAddress } from '../../ports.ts'
import type { TrackerContact } from './tracker-contact.ts'
import { circuitOver, type Way } from './way.ts'

/** A tracker said that an earlier one leads the stream part. */
interface Redirection {
  readonly leaderId: NodeId
  /** What a circuit over the one that said it dials; undefined when that is not listed. */
  readonly dialled: TrackerAddress | undefined
  /** How to get there over the one that said it; undefined when that would pass too many. */
  readonly circuit: Way | undefined
}

/** A stream part that is joined or visited, as the choice of its tracker sees it. */
export class ServedPart {
  readonly id: StreamPartId
  /** Otherwise it is only visited: a tracker is asked something about it. */
  joined = false
  visits = 0
  /** The connected tracker that serves it. */
  home: TrackerContact | undefined
  /** Whether a tracker has ever told it its neighbours. */
  instructed = false
  /** Since when its home owes it the first instruction; undefined when it does not. */
  askedAtMs: number | undefined
  /** How often its home was asked for that without an answer. */
  unanswered = 0
  /** Connected trackers that owed it an answer for too long, or gave a wrong one, and when that was noticed. */
  readonly silent = new Map<NodeId, number>()
  /** Connected trackers that were asked about it since they are connected. */
  readonly asked = new Set<NodeId>()
  /** What trackers said of who leads it. */
  readonly redirections = new Map<NodeId, Redirection>()
  /** Trackers that served it before, and when each is told that they no longer do. */
  readonly deferredLeaves = new Map<NodeId, number>()
  /** What it wants to be connected or dialled. */
  needs: readonly TrackerContact[] = []

  constructor(id: StreamPartId) {
    this.id = id
  }

  /** A tracker that does not serve it for now, though it is connected. */
  passesOver(trackerId: NodeId): boolean {
    return this.redirections.has(trackerId) || this.silent.has(trackerId)
  }

  /** Whether another tracker says that this one leads: then nobody waits until it has proved to stay. */
  isNamed(trackerId: NodeId): boolean {
    for (const { leaderId } of this.redirections.values()) if (leaderId === trackerId) return true
    return false
  }

  /**
   * Takes what the tracker at the end of `way` says of who leads. False when it may not be: it was not asked, or names one that
   * does not come before it in the order.
   */
  redirect(way: Way, leaderId: NodeId, addresses: readonly TrackerAddress[]): boolean {
    const { trackerId } = way
    const placeOf = (id: NodeId) => addresses.findIndex(({ nodeId }) => nodeId === id)
    const leaderAt = placeOf(leaderId)
    if (!this.asked.has(trackerId) || leaderAt < 0 || leaderAt >= placeOf(trackerId)) return false
    const dialledId = way.via[0] ?? trackerId
    const dialled = addresses.find(({ nodeId }) => nodeId === dialledId)
    const circuit = dialled && circuitOver(way, dialled.url, leaderId)
    this.redirections.set(trackerId, { leaderId, dialled, circuit })
    this.silent.delete(trackerId)
    this.deferredLeaves.delete(trackerId)
    return true
  }

  /** Forgets what was said by or of trackers that are not listed any more, or elsewhere. */
  keepListed(addresses: readonly TrackerAddress[]): void {
    const urls = new Map(addresses.map(({ nodeId, url }) => [nodeId, url]))
    for (const [trackerId, { leaderId, dialled }] of this.redirections) {
      const isMoved = dialled !== undefined && urls.get(dialled.nodeId) !== dialled.url
      if (isMoved || !urls.has(trackerId) || !urls.has(leaderId)) this.redirections.delete(trackerId)
    }
  }

  /** The circuits that trackers offered to another, those over earlier ones first. */
  circuitsTo(leaderId: NodeId, addresses: readonly TrackerAddress[]): Way[] {
    if (this.redirections.size === 0) return []
    return addresses.flatMap(({ nodeId }) => {
      const redirection = this.redirections.get(nodeId)
      return redirection?.leaderId === leaderId && redirection.circuit !== undefined
        ? [redirection.circuit]
        : []
    })
  }

  /** No way leads to a tracker any more: who named it is asked again. */
  unreachable(leaderId: NodeId): void {
    for (const [trackerId, redirection] of this.redirections)
      if (redirection.leaderId === leaderId) this.redirections.delete(trackerId)
  }

  /** The last connection to a tracker is gone, and with it what the tracker owed or was to be told. */
  disconnected(trackerId: NodeId): void {
    this.silent.delete(trackerId)
    this.asked.delete(trackerId)
    this.deferredLeaves.delete(trackerId)
  }
}
