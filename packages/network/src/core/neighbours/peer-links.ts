import type { Attach, Contact, FailureReason, NodeId, StreamPartId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import { drop } from '../drop.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import type { EdgeSteps } from './edge-steps.ts'
import type { MemberCheck } from './member-check.ts'
import type { PeerTable } from './peer-table.ts'

export interface PeerLinksModules {
  readonly effects: Pick<OverlayEffects, 'connect' | 'disconnect' | 'dropped'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly peers: PeerTable
  readonly memberCheck: MemberCheck
  readonly steps: EdgeSteps
  /** Bytes in the link's queue. */
  queuedBytes(peerId: NodeId): number
  /** The link's smoothed round-trip time. */
  rttOf(peerId: NodeId): number | undefined
}

/** What it means to stream parts that the link to a peer opens, fails or ends; and which links this node ends itself. */
export class PeerLinks {
  readonly #modules: PeerLinksModules

  constructor(modules: PeerLinksModules) {
    this.#modules = modules
  }

  /**
   * The attach that may go behind our proof to a peer that is being dialled. It is the one that would follow when the link opens, if that names no
   * heads: from whom this node has heard is told only to a peer that has proven itself.
   */
  firstAttach(part: StreamPart, peerId: NodeId, nowMs: number): Attach | undefined {
    const { peers } = this.#modules
    const isDue = peers.links.get(peerId)?.state === 'opening' && !peers.isBanned(peerId, nowMs)
    if (!isDue || !part.reads || !part.pursued.has(peerId)) return undefined
    const packet = part.attachPacket(nowMs)
    return packet.type === 'attach' && packet.heads.length === 0 ? packet : undefined
  }

  /** `attached`: the peer has had our attach there. */
  opened(peerId: NodeId, attached: StreamPartId | undefined, nowMs: number): void {
    const { peers, effects, parts, steps } = this.#modules
    if (peers.isBanned(peerId, nowMs)) {
      effects.disconnect(peerId, 'MISBEHAVED', 'banned after earlier misbehaviour')
      // One that the application has dialled is wanted again once the ban is over.
      this.failed(peerId, 'misbehaved', nowMs)
      return
    }
    peers.opened(peerId, nowMs)
    if (attached !== undefined) this.#attached(peerId, attached, nowMs)
    parts.each((part) => {
      if (part.wanted.has(peerId)) steps.refresh(part, nowMs)
    })
  }

  /** The peer has had our attach. What has changed since is told now: otherwise only one of the two would be a neighbour. */
  #attached(peerId: NodeId, id: StreamPartId, nowMs: number): void {
    const { peers, parts, steps } = this.#modules
    const part = parts.get(id)
    if (part?.pursued.has(peerId) === true) {
      // A feeder by now says so in an attach of its own.
      if (part.reads) parts.within(part, () => steps.attachSent(part.edgeTo(peerId, nowMs), nowMs))
      return
    }
    steps.detach({ id }, peerId, part === undefined || part.isResting ? 'left' : 'not-wanted', nowMs)
    peers.detached(peerId, nowMs)
  }

  failed(peerId: NodeId, reason: FailureReason, nowMs: number): void {
    const { peers, parts, counters, steps } = this.#modules
    if (peers.links.get(peerId)?.state !== 'opening') return
    counters['links.failed']++
    peers.closed(peerId, nowMs)
    parts.each((part) => {
      if (!part.wanted.has(peerId)) return
      steps.report(part, peerId, reason)
      steps.refresh(part, nowMs)
    })
  }

  closed(peerId: NodeId, nowMs: number): void {
    if (!this.#modules.peers.isOpen(peerId)) return
    this.#modules.counters['links.lost']++
    this.#gone(peerId, 'lost', nowMs)
  }

  /** Closes the link to a peer that did what no correct node does, tells the tracker, and bans the peer for a while. */
  misbehaved(peerId: NodeId, detail: string, nowMs: number): void {
    const { peers, effects } = this.#modules
    if (!peers.isOpen(peerId)) return
    drop(this.#modules, 'peers.misbehaved', `${peerId}: ${detail}`)
    peers.ban(peerId, nowMs)
    effects.disconnect(peerId, 'MISBEHAVED', detail)
    this.#gone(peerId, 'misbehaved', nowMs)
  }

  /** Data of so many bytes came from a peer that is no neighbour: a small amount is normal. */
  uselessData(peerId: NodeId, bytes: number, nowMs: number): void {
    const { peers, queuedBytes, rttOf } = this.#modules
    const link = { queuedBytes: queuedBytes(peerId), rttMs: rttOf(peerId) }
    if (peers.isTooMuchUseless(peerId, bytes, link, nowMs))
      this.misbehaved(peerId, 'too much data where it is no neighbour', nowMs)
  }

  /** The application uses the link regardless of stream parts; with a contact it is opened, unless it is open. */
  hold(peerId: NodeId, contact: Contact | undefined, nowMs: number): void {
    const { peers, effects } = this.#modules
    peers.use(peerId, nowMs)
    if (contact === undefined) return
    // Also to one whose link is open as far as is known here: that it has closed may wait behind batches that are being verified.
    effects.connect(peerId, contact, true)
    if (!peers.isOpen(peerId)) peers.opening(peerId, contact, nowMs)
  }

  unhold(peerId: NodeId, nowMs: number): void {
    this.#modules.peers.unuse(peerId, nowMs)
  }

  /** Dials wanted peers that wait for their next attempt at once. */
  networkBack(nowMs: number): void {
    const { peers, parts, steps } = this.#modules
    peers.hurry(nowMs)
    parts.each((part) => steps.refresh(part, nowMs))
  }

  /** Closes links that nothing has used for a while. */
  tick(nowMs: number): void {
    const { peers, parts, memberCheck, effects } = this.#modules
    for (const peerId of peers.unused(nowMs)) {
      peers.closed(peerId, nowMs)
      memberCheck.forget(peerId)
      parts.each((part) => part.members.delete(peerId))
      effects.disconnect(peerId, 'UNUSED', 'no stream part in common')
    }
  }

  #gone(peerId: NodeId, reason: FailureReason, nowMs: number): void {
    const { peers, parts, memberCheck, steps } = this.#modules
    peers.closed(peerId, nowMs)
    memberCheck.forget(peerId)
    parts.each((part) => {
      const edge = part.edges.get(peerId)
      const wasMember = part.members.delete(peerId)
      if (edge === undefined && !part.wanted.has(peerId) && !wasMember) return
      part.edges.delete(peerId)
      if (part.wanted.has(peerId) || reason === 'misbehaved') steps.report(part, peerId, reason)
      steps.refresh(part, nowMs)
    })
  }
}
