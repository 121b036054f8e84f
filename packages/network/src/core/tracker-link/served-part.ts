import { RareMap, type NodeId, type StreamPartId } from '@runnel/protocol'
import type { TrackerAddress } from '../../ports.ts'
import type { TrackerContact } from './tracker-contact.ts'
import { circuitOver, type Way } from './way.ts'

/** A redirect: a tracker said that an earlier one leads the stream part. */
interface Redirection {
  readonly leaderId: NodeId
  /** The URL of a circuit over the one that redirected; undefined when that one is not listed. */
  readonly dialled: TrackerAddress | undefined
  /** The way over the one that redirected; undefined when that would pass too many trackers. */
  readonly circuit: Way | undefined
}

/** A stream part that is joined or visited, from the view of choosing its tracker. */
export class ServedPart {
  readonly id: StreamPartId
  /** Otherwise it is only visited: a tracker is asked something about it. */
  joined = false
  visits = 0
  /** The connected tracker that serves it. */
  home: TrackerContact | undefined
  /** The tracker that served it until the connection was lost; undefined once one serves it again. */
  lostId: NodeId | undefined
  /** Whether a tracker has ever sent it an instruction. */
  instructed = false
  /** It lost a neighbour since its tracker was last told of it. */
  lostNeighbour = false
  /** Since when its tracker owes it the first instruction; Infinity while the status that asks for it waits; undefined when it does not. */
  askedAtMs: number | undefined
  /** How often its tracker was asked for that without an answer. */
  unanswered = 0
  /** Connected trackers that owed it an answer for too long, or gave a wrong one, and when that was noticed. */
  readonly silent = new RareMap<NodeId, number>()
  /** Connected trackers that were asked about it since they connected. */
  readonly asked = new Set<NodeId>()
  /** The redirects received, by tracker. */
  readonly redirections = new RareMap<NodeId, Redirection>()
  /** Trackers that served it before, and when each is told that it no longer does. */
  readonly deferredLeaves = new RareMap<NodeId, number>()
  /** The ways that it wants connected or dialled. */
  needs: readonly TrackerContact[] = []

  constructor(id: StreamPartId) {
    this.id = id
  }

  /** A tracker has to act on its status. */
  get isUrgent(): boolean {
    return this.lostNeighbour || !this.instructed
  }

  /** A connected tracker that does not serve it for now. */
  passesOver(trackerId: NodeId): boolean {
    return this.redirections.has(trackerId) || this.silent.has(trackerId)
  }

  /** Whether another tracker says that this one leads: then it need not prove first that it stays. */
  isNamed(trackerId: NodeId): boolean {
    for (const { leaderId } of this.redirections.values()) if (leaderId === trackerId) return true
    return false
  }

  /**
   * Takes a redirect from the tracker at the end of `way`. False when that tracker may not send it: it was not asked, or names
   * one that does not come before it in the order.
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

  /** Forgets redirects by or to trackers that are no longer listed, or are listed elsewhere. */
  keepListed(addresses: readonly TrackerAddress[]): void {
    const urls = new Map(addresses.map(({ nodeId, url }) => [nodeId, url]))
    for (const [trackerId, { leaderId, dialled }] of this.redirections) {
      const isMoved = dialled !== undefined && urls.get(dialled.nodeId) !== dialled.url
      if (isMoved || !urls.has(trackerId) || !urls.has(leaderId)) this.redirections.delete(trackerId)
    }
  }

  /** The circuits that trackers offered to another one, those over earlier trackers first. */
  circuitsTo(leaderId: NodeId, addresses: readonly TrackerAddress[]): Way[] {
    if (this.redirections.size === 0) return []
    return addresses.flatMap(({ nodeId }) => {
      const redirection = this.redirections.get(nodeId)
      return redirection?.leaderId === leaderId && redirection.circuit !== undefined
        ? [redirection.circuit]
        : []
    })
  }

  /** No way leads to a tracker any more: those that redirected to it are asked again. */
  unreachable(leaderId: NodeId): void {
    for (const [trackerId, redirection] of this.redirections)
      if (redirection.leaderId === leaderId) this.redirections.delete(trackerId)
  }

  /** The last connection to a tracker closed, and with it what the tracker owed or was to be told. */
  disconnected(trackerId: NodeId): void {
    this.silent.delete(trackerId)
    this.asked.delete(trackerId)
    this.deferredLeaves.delete(trackerId)
  }
}
