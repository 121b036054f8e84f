import type { Contact, DetachReason, FailureReason, NodeId } from '@runnel/protocol'
import type { NetworkLimits } from '../../limits.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { Edge } from '../stream-part/edge.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { PeerTable } from './peer-table.ts'
import { reconcile } from './reconcile.ts'

export interface EdgeStepsModules {
  readonly effects: Pick<OverlayEffects, 'connect' | 'sendControl' | 'neighbours' | 'statusDue'>
  readonly peers: PeerTable
  rttOf(peerId: NodeId): number | undefined
}

/** The steps that lead to a stream part's wanted neighbours: dialling, attaching, detaching, and telling the tracker what failed. */
export class EdgeSteps {
  readonly #limits: NetworkLimits
  readonly #modules: EdgeStepsModules

  constructor(limits: NetworkLimits, modules: EdgeStepsModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Takes all that `reconcile` finds due. To be called whenever what is wanted, or what is there, may have changed. */
  refresh(part: StreamPart, nowMs: number): void {
    const { peers, effects, rttOf } = this.#modules
    const { pursued: wanted, edges } = part
    const plan = reconcile({
      wanted,
      edges: part.ordered,
      links: peers.links,
      rttOf,
      nowMs,
      limits: this.#limits,
    })
    for (const { peerId, contact } of plan.connect) this.connect(part, peerId, contact, nowMs)
    for (const peerId of plan.attach) this.attach(part, peerId, part.edgeTo(peerId, nowMs), nowMs)
    for (const { peerId, reason } of plan.detach) {
      this.detach(part, peerId, reason, nowMs)
      // Otherwise it could request one replay after the other.
      if (edges.get(peerId)?.wasWanted === false) part.refuse(peerId, nowMs)
      edges.delete(peerId)
    }
    for (const peerId of plan.retire) {
      this.detach(part, peerId, 'replaced', nowMs)
      part.edgeTo(peerId, nowMs).retiredAtMs = nowMs
    }
    for (const peerId of plan.silent) {
      part.edgeTo(peerId, nowMs).reported = true
      this.report(part, peerId, 'timeout')
    }
    // Attaching may have completed the settling, and what was told has a time limit of its own.
    if (plan.attach.length > 0 || plan.silent.length > 0) {
      this.refresh(part, nowMs)
      return
    }
    part.wakeAtMs = plan.wakeAtMs
    this.#updateUses(part, nowMs)
    if (part.updateAttached()) effects.neighbours(part.id, part.attached)
    if (part.schedule.settle(plan.settled, nowMs)) effects.statusDue(part.id)
  }

  /**
   * After the connection to the tracker was lost: dials those wanted peers anew that have no link yet. Signals to and from them may have been lost with
   * it, and neither end would know. With the first instruction also those that were dialled since, but not a moment ago: if the tracker had forgotten
   * this node, it passed on nothing until now.
   */
  dialAgain(part: StreamPart, nowMs: number): void {
    const { backSinceMs, pursued } = part
    if (backSinceMs === undefined) return
    const sinceMs = Math.max(backSinceMs, nowMs - this.#limits.minBackoffMs)
    for (const [peerId, contact] of pursued)
      if (this.#modules.peers.mayDialAgain(peerId, sinceMs, nowMs))
        this.connect(part, peerId, contact, nowMs, true)
  }

  connect(part: StreamPart, peerId: NodeId, contact: Contact, nowMs: number, again = false): void {
    const { peers, effects } = this.#modules
    // The order matters: a peer must not count as being dialled when it is not.
    // The hosts of a feeder are not told of it: nobody else dials.
    effects.connect(peerId, contact, !part.reads, again)
    peers.opening(peerId, contact, nowMs)
  }

  attach(part: StreamPart, peerId: NodeId, edge: Edge, nowMs: number): void {
    this.attachSent(edge, nowMs)
    this.#modules.effects.sendControl(peerId, part.attachPacket(nowMs))
  }

  /** The peer is being sent our attach. */
  attachSent(edge: Edge, nowMs: number): void {
    if (!edge.sent) edge.firstSentAtMs = nowMs
    edge.sent = true
    edge.retiredAtMs = undefined
    edge.sentAtMs = nowMs
  }

  /**
   * Tells the peer that what it has with the stream part, which may be one that is not joined, ends or may end. To be called before that is
   * deleted here.
   */
  detach(
    { id, edges, members }: Pick<StreamPart, 'id'> & Partial<Pick<StreamPart, 'edges' | 'members'>>,
    peerId: NodeId,
    reason: DetachReason,
    nowMs: number,
  ): void {
    this.#modules.effects.sendControl(peerId, { type: 'detach', streamPartId: id, reason })
    // One that never had our attach has nothing under way, however often it has itself refused.
    if (edges?.get(peerId)?.sent === true || members?.feeders.has(peerId) === true)
      this.#modules.peers.detached(peerId, nowMs)
  }

  /** Tells the tracker that the peer is no neighbour, and why. */
  report(part: StreamPart, peerId: NodeId, reason: FailureReason): void {
    part.fail(peerId, reason)
    this.#modules.effects.statusDue(part.id, true)
  }

  /** The stream part uses no links any more. */
  release(part: StreamPart, nowMs: number): void {
    for (const peerId of part.involved) this.#modules.peers.unuse(peerId, nowMs)
    part.involved = new Set()
  }

  #updateUses(part: StreamPart, nowMs: number): void {
    const before = part.involved
    const after = new Set([...part.pursued.keys(), ...part.edges.keys(), ...part.members.feeders.keys()])
    part.involved = after
    for (const peerId of after) if (!before.has(peerId)) this.#modules.peers.use(peerId, nowMs)
    for (const peerId of before) if (!after.has(peerId)) this.#modules.peers.unuse(peerId, nowMs)
  }
}
