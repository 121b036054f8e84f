import {
  backoffMs,
  type Contact,
  type Detach,
  type DetachReason,
  type FailureReason,
  type MessageChain,
  type NodeId,
  type PermissionScope,
  type StreamId,
  type Time,
} from '@runnel/protocol'
import type { NetworkLimits } from '../../limits.ts'
import type { CounterName, Counters } from '../counters.ts'
import { drop } from '../drop.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import { isAttached, type Edge } from '../stream-part/edge.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import type { MemberCheck } from './member-check.ts'
import type { PeerTable } from './peer-table.ts'
import { wantsToRead, type AnyAttach } from './part-members.ts'
import { Permits } from './permits.ts'
import { reconcile } from './reconcile.ts'

export interface NeighbourhoodModules {
  readonly effects: OverlayEffects
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly peers: PeerTable
  readonly memberCheck: MemberCheck
  /** Its neighbours are hosts: no tracker says when to ask one again that refused. */
  readonly isLight: boolean
  rttOf(peerId: NodeId): number | undefined
  transportOf(peerId: NodeId): number
}

/** Keeps each stream part's neighbours as the tracker wants them, and the tracker informed. */
export class Neighbourhood {
  readonly #limits: NetworkLimits
  readonly #modules: NeighbourhoodModules
  readonly #permits: Permits
  /** Of all stream parts at once: with a time for each, a node in a thousand would wake up many times a second. */
  #rttCheckMs = Infinity
  /** How many stream parts were looked at: whose turn it is next. */
  #rttTurn = 0

  constructor(limits: NetworkLimits, modules: NeighbourhoodModules) {
    this.#limits = limits
    this.#modules = modules
    this.#permits = new Permits(limits, {
      ...modules,
      detach: (part, peerId, reason, nowMs) => this.#sendDetach(part, peerId, reason, nowMs),
      report: (part, peerId) => this.#report(part, peerId, 'refused'),
      refresh: (part, nowMs) => this.#refresh(part, nowMs),
      misbehaved: (peerId, detail, nowMs) => this.misbehaved(peerId, detail, nowMs),
      count: (counter, detail) => this.#count(counter, detail),
    })
  }

  get dueMs(): number {
    return Math.min(this.#modules.peers.dueMs, this.#rttCheckMs)
  }

  /** From now on it is looked whether what it said changes. */
  statusTaken(nowMs: number): void {
    if (this.#rttCheckMs === Infinity) this.#rttCheckMs = nowMs + this.#limits.rttCheckMs
  }

  instructed(part: StreamPart, nowMs: number): void {
    for (const peerId of part.wanted.keys()) {
      if (this.#modules.peers.isBanned(peerId, nowMs)) this.#report(part, peerId, 'misbehaved')
    }
    // A peer that is found in another way by now need not be dialled to the end in the one before.
    for (const [peerId, contact] of part.pursued)
      if (this.#modules.peers.isOpeningOtherwise(peerId, contact)) this.#connect(part, peerId, contact, nowMs)
    this.#refresh(part, nowMs)
  }

  leave(part: StreamPart, nowMs: number): void {
    for (const [peerId, edge] of part.edges) {
      if (edge.sent || edge.received) this.#sendDetach(part, peerId, 'left', nowMs)
    }
    for (const peerId of part.members.feeders.keys()) this.#sendDetach(part, peerId, 'left', nowMs)
    part.edges.clear()
    this.#release(part, nowMs)
    if (part.updateAttached()) this.#modules.effects.neighbours(part.id, part.attached)
  }

  /** Like `leave`, after a fault: sends what can be sent to the neighbours, and releases the peers whatever else fails. */
  abandon(part: StreamPart, nowMs: number): void {
    this.#release(part, nowMs)
    const edges = [...part.edges].filter(([, edge]) => edge.sent || edge.received)
    for (const peerId of [...edges.map(([peerId]) => peerId), ...part.members.feeders.keys()]) {
      try {
        this.#sendDetach(part, peerId, 'left', nowMs)
      } catch {
        // The fault is reported already; the neighbour notices when it attaches again.
      }
    }
  }

  linkOpened(peerId: NodeId, nowMs: number): void {
    const { peers, effects } = this.#modules
    if (peers.isBanned(peerId, nowMs)) {
      effects.disconnect(peerId, 'MISBEHAVED', 'banned after earlier misbehaviour')
      return
    }
    peers.opened(peerId, nowMs)
    this.#modules.parts.each((part) => {
      if (part.wanted.has(peerId)) this.#refresh(part, nowMs)
    })
  }

  linkFailed(peerId: NodeId, reason: FailureReason, nowMs: number): void {
    const { peers, parts, counters } = this.#modules
    if (peers.links.get(peerId)?.state !== 'opening') return
    counters['links.failed']++
    peers.closed(peerId, nowMs)
    parts.each((part) => {
      if (!part.wanted.has(peerId)) return
      this.#report(part, peerId, reason)
      this.#refresh(part, nowMs)
    })
  }

  linkClosed(peerId: NodeId, nowMs: number): void {
    if (!this.#modules.peers.isOpen(peerId)) return
    this.#modules.counters['links.lost']++
    this.#linkGone(peerId, 'lost', nowMs)
  }

  /** Dials wanted peers that wait for their next attempt at once. */
  networkBack(nowMs: number): void {
    this.#modules.peers.hurry(nowMs)
    this.#modules.parts.each((part) => this.#refresh(part, nowMs))
  }

  /** Closes the link to a peer that did what no correct node does, tells the tracker, and bans the peer for a while. */
  misbehaved(peerId: NodeId, detail: string, nowMs: number): void {
    const { peers, effects } = this.#modules
    if (!peers.isOpen(peerId)) return
    this.#count('peers.misbehaved', `${peerId}: ${detail}`)
    peers.ban(peerId, nowMs)
    effects.disconnect(peerId, 'MISBEHAVED', detail)
    this.#linkGone(peerId, 'misbehaved', nowMs)
  }

  /** Data came from a peer that is no neighbour: a small amount is normal. */
  uselessData(peerId: NodeId, nowMs: number): void {
    if (this.#modules.peers.isTooMuchUseless(peerId, nowMs)) {
      this.misbehaved(peerId, 'too much data where it is no neighbour', nowMs)
    }
  }

  /** The application uses the link regardless of stream parts; with a contact it is opened, unless it is open. */
  hold(peerId: NodeId, contact: Contact | undefined, nowMs: number): void {
    const { peers, effects } = this.#modules
    peers.use(peerId, nowMs)
    if (contact === undefined || peers.isOpen(peerId)) return
    effects.connect(peerId, contact, true)
    peers.opening(peerId, contact, nowMs)
  }

  unhold(peerId: NodeId, nowMs: number): void {
    this.#modules.peers.unuse(peerId, nowMs)
  }

  onAttach(peerId: NodeId, packet: AnyAttach, time: Time): void {
    const { nowMs } = time
    const { parts, peers, counters } = this.#modules
    if (!peers.isOpen(peerId)) return
    const part = parts.get(packet.streamPartId)
    if (part === undefined || part.isResting) {
      counters['attach.notJoined']++
      this.#modules.effects.sendControl(peerId, detachPacket(packet, 'not-joined'))
      peers.detached(peerId, nowMs)
      return
    }
    if (!wantsToRead(packet)) return this.#permits.onFeederAttach(part, peerId, packet, time)
    const isGuest = packet.type === 'guestAttach'
    if (isGuest ? this.#refusesGuest(part, peerId, nowMs) : this.#refuses(part, peerId, nowMs)) return
    const reader = this.#permits.reader(part, peerId, packet, time)
    if (reader === undefined) return
    part.members.delete(peerId)
    part.departed.delete(peerId)
    const edge = Object.assign(part.edgeTo(peerId, nowMs), reader)
    edge.isGuest = isGuest && !part.wanted.has(peerId)
    part.readersDueMs = Math.min(part.readersDueMs, reader.readsUntilMs)
    edge.released = false
    if (edge.received) {
      counters['attach.repeated']++
      this.#answerAgain(part, peerId, edge, packet, nowMs)
      return
    }
    edge.received = true
    edge.retryAtMs = 0
    if (!edge.sent) this.#sendAttach(part, peerId, edge, nowMs)
    peers.proven(peerId)
    this.#refresh(part, nowMs)
    if (part.isAttached(peerId)) for (const head of packet.heads) part.seen.shown(peerId, head, head)
    this.#replay(part, peerId, edge, packet, nowMs)
  }

  onDetach(peerId: NodeId, packet: Detach, nowMs: number): void {
    const { parts, counters } = this.#modules
    counters['detach.received']++
    const part = parts.get(packet.streamPartId)
    const edge = part?.edges.get(peerId)
    const { reason } = packet
    if (part === undefined) return
    if (part.members.delete(peerId)) this.#refresh(part, nowMs)
    if (edge === undefined) {
      // Our packet that says that the edge may end was lost.
      if (reason === 'replaced') this.#sendDetach(part, peerId, 'not-wanted', nowMs)
      return
    }
    if (reason === 'replaced' && edge.retiredAtMs === undefined && isAttached(edge)) {
      // It ends when we have told the peer the same, so that neither of the two is short of a neighbour.
      edge.released = true
    } else if (part.wanted.has(peerId)) this.#refused(part, peerId, edge, reason, nowMs)
    else {
      part.edges.delete(peerId)
      // Otherwise it could request one replay after the other.
      if (!edge.wasWanted) part.refuse(peerId, nowMs)
    }
    this.#refresh(part, nowMs)
  }

  /** Ends all that a guest has here, for a while. */
  dismissGuest(peerId: NodeId, reason: DetachReason, nowMs: number): void {
    this.#modules.parts.each((part) => {
      const isFeeder = part.members.feeders.has(peerId)
      if (part.edges.get(peerId)?.isGuest !== true && !isFeeder) return
      this.#sendDetach(part, peerId, reason, nowMs)
      part.edges.delete(peerId)
      part.members.delete(peerId)
      part.refuse(peerId, nowMs)
      this.#refresh(part, nowMs)
    })
  }

  /** A light node uses these hosts from now on. */
  useHosts(part: StreamPart, hosts: readonly NodeId[], nowMs: number): void {
    part.useHosts(hosts)
    this.#refresh(part, nowMs)
  }

  tick(time: Time): void {
    const { nowMs } = time
    const { parts, peers, effects } = this.#modules
    parts.each((part) => {
      if (part.readersDueMs <= nowMs) this.#permits.check(part, time)
      if (part.dueMs <= nowMs) this.#refresh(part, nowMs)
      if (part.schedule.isRttCheckDue(nowMs)) this.#reportNews(part)
    })
    if (this.#rttCheckMs <= nowMs) this.#compareRtts(nowMs)
    for (const peerId of peers.unused(nowMs)) {
      peers.closed(peerId, nowMs)
      this.#modules.memberCheck.forget(peerId)
      parts.each((part) => part.members.delete(peerId))
      effects.disconnect(peerId, 'UNUSED', 'no stream part in common')
    }
  }

  /** A link that became slower is news for each stream part that uses it: of very many some wait for the next time. */
  #compareRtts(nowMs: number): void {
    const { parts } = this.#modules
    const { rttCheckMs, maxRttReports } = this.#limits
    this.#rttCheckMs = parts.size === 0 ? Infinity : nowMs + rttCheckMs
    const all = [...parts]
    const first = this.#rttTurn % Math.max(1, all.length)
    let left = maxRttReports
    for (const part of [...all.slice(first), ...all.slice(0, first)]) {
      if (left === 0) break
      this.#rttTurn++
      if (parts.within(part, () => this.#reportNews(part)) === true) left--
    }
  }

  #reportNews(part: StreamPart): boolean {
    const isNews = part.hasNews(this.#modules)
    if (isNews) this.#modules.effects.statusDue(part.id)
    return isNews
  }

  /** The registry's answer on whether a user may read or publish: the peers that waited for it are attached or refused. */
  userResolved(
    {
      scope,
      userId,
      toRead,
    }: { readonly scope: PermissionScope; readonly userId: NodeId; readonly toRead: boolean },
    found: boolean,
    time: Time,
  ): void {
    this.#modules.parts.each((part) => {
      if (part.scope !== scope) return
      for (const [peerId, waiting] of [...part.members.waiting]) {
        if (waiting.userId !== userId || wantsToRead(waiting.packet) !== toRead) continue
        part.members.answered(peerId)
        // There was no answer: the peer gets none either, and attaches again.
        if (found) this.onAttach(peerId, waiting.packet, time)
      }
      if (found) this.#permits.check(part, time, userId)
    })
  }

  /** A peer acts for its user until later than before. */
  credentialRenewed(peerId: NodeId, time: Time): void {
    this.#modules.parts.each((part) => {
      if (part.edges.has(peerId) || part.members.feeders.has(peerId)) this.#permits.check(part, time)
    })
  }

  /** Who may read or publish may have changed, in one stream or in all. */
  permissionsChanged(streamId: StreamId | undefined, time: Time): void {
    this.#modules.parts.each((part) => {
      if (streamId !== undefined && part.streamId !== streamId) return
      this.#permits.check(part, time)
      // Whoever was refused, here or elsewhere, may be let in now; and so may we, by the tracker.
      part.departed.clear()
      part.forgetRefused()
      this.#refresh(part, time.nowMs)
      if (streamId !== undefined) this.#modules.effects.statusDue(part.id)
    })
  }

  /**
   * Reading begins or ends: the peers have to know. A node that does not read has no feeders, and data may be in flight to
   * it.
   */
  readingChanged(part: StreamPart, nowMs: number): void {
    for (const [peerId, edge] of part.edges) {
      if (edge.sent) this.#sendAttach(part, peerId, edge, nowMs)
      if (!part.reads) this.#modules.peers.detached(peerId, nowMs)
    }
    if (!part.reads) {
      for (const peerId of part.guests) {
        this.#sendDetach(part, peerId, 'not-permitted', nowMs)
        part.edges.delete(peerId)
      }
      this.#dropFeeders(part, nowMs)
    }
    this.#modules.effects.statusDue(part.id)
  }

  #connect(part: StreamPart, peerId: NodeId, contact: Contact, nowMs: number): void {
    const { peers, effects } = this.#modules
    // The order matters: a peer must not count as being dialled when it is not.
    // The hosts of a feeder are not told of it: nobody else dials.
    effects.connect(peerId, contact, !part.reads)
    peers.opening(peerId, contact, nowMs)
  }

  /** Takes the steps that bring a stream part closer to what is wanted. */
  #refresh(part: StreamPart, nowMs: number): void {
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
    for (const { peerId, contact } of plan.connect) this.#connect(part, peerId, contact, nowMs)
    for (const peerId of plan.attach) this.#sendAttach(part, peerId, part.edgeTo(peerId, nowMs), nowMs)
    for (const { peerId, reason } of plan.detach) {
      this.#sendDetach(part, peerId, reason, nowMs)
      // Otherwise it could request one replay after the other.
      if (edges.get(peerId)?.wasWanted === false) part.refuse(peerId, nowMs)
      edges.delete(peerId)
    }
    for (const peerId of plan.retire) {
      this.#sendDetach(part, peerId, 'replaced', nowMs)
      part.edgeTo(peerId, nowMs).retiredAtMs = nowMs
    }
    for (const peerId of plan.silent) {
      part.edgeTo(peerId, nowMs).reported = true
      this.#report(part, peerId, 'timeout')
    }
    // Attaching may have completed the settling, and what was told has a time limit of its own.
    if (plan.attach.length > 0 || plan.silent.length > 0) {
      this.#refresh(part, nowMs)
      return
    }
    part.wakeAtMs = plan.wakeAtMs
    this.#updateUses(part, nowMs)
    if (part.updateAttached()) effects.neighbours(part.id, part.attached)
    if (part.schedule.settle(plan.settled, nowMs)) effects.statusDue(part.id)
  }

  #dropFeeders(part: StreamPart, nowMs: number): void {
    for (const peerId of [...part.members.feeders.keys()]) {
      this.#sendDetach(part, peerId, 'left', nowMs)
      part.members.delete(peerId)
    }
    this.#refresh(part, nowMs)
  }

  #updateUses(part: StreamPart, nowMs: number): void {
    const before = part.involved
    const after = new Set([...part.pursued.keys(), ...part.edges.keys(), ...part.members.feeders.keys()])
    part.involved = after
    for (const peerId of after) if (!before.has(peerId)) this.#modules.peers.use(peerId, nowMs)
    for (const peerId of before) if (!after.has(peerId)) this.#modules.peers.unuse(peerId, nowMs)
  }

  #release(part: StreamPart, nowMs: number): void {
    for (const peerId of part.involved) this.#modules.peers.unuse(peerId, nowMs)
    part.involved = new Set()
  }

  #linkGone(peerId: NodeId, reason: FailureReason, nowMs: number): void {
    this.#modules.peers.closed(peerId, nowMs)
    this.#modules.memberCheck.forget(peerId)
    this.#modules.parts.each((part) => {
      const edge = part.edges.get(peerId)
      const wasMember = part.members.delete(peerId)
      if (edge === undefined && !part.wanted.has(peerId) && !wasMember) return
      part.edges.delete(peerId)
      if (part.wanted.has(peerId) || reason === 'misbehaved') this.#report(part, peerId, reason)
      this.#refresh(part, nowMs)
    })
  }

  /** An attach of a peer that no instruction of ours names: the instruction may not have arrived yet. */
  #refuses(part: StreamPart, peerId: NodeId, nowMs: number): boolean {
    if (part.wanted.has(peerId) || part.edges.has(peerId)) return false
    const refused = part.isRefused(peerId, nowMs)
    if (!refused && part.provisional < this.#limits.maxProvisional) return false
    this.#count(refused ? 'attach.refused' : 'attach.full', `${part.id} ${peerId}`)
    this.#sendDetach(part, peerId, refused ? 'not-wanted' : 'full', nowMs)
    return true
  }

  #refusesGuest(part: StreamPart, peerId: NodeId, nowMs: number): boolean {
    const reason = part.reads ? 'full' : 'not-permitted'
    if (part.reads && !part.isRefused(peerId, nowMs)) return false
    this.#count('guests.refused', `${part.id} ${peerId}`)
    this.#sendDetach(part, peerId, reason, nowMs)
    return true
  }

  /** A wanted peer does not want to be a neighbour, or no longer. */
  #refused(part: StreamPart, peerId: NodeId, edge: Edge, reason: DetachReason, nowMs: number): void {
    const wasAttached = isAttached(edge)
    edge.sent = false
    edge.received = false
    edge.reported = false
    edge.retiredAtMs = undefined
    edge.released = false
    edge.refusals++
    edge.retryAtMs = nowMs + backoffMs(edge.refusals, this.#limits.minBackoffMs, this.#limits.maxBackoffMs)
    if (this.#modules.isLight) {
      this.#modules.counters['hosts.refused']++
      return this.#modules.effects.hostRefused(part.id, peerId, reason)
    }
    // Newer instructions are likely in flight to one of the two, so the first time is no failure.
    if (reason === 'not-joined' || reason === 'full' || reason === 'not-permitted' || edge.refusals > 1) {
      this.#report(part, peerId, 'refused')
    } else if (wasAttached && reason === 'left') this.#modules.effects.statusDue(part.id)
    if (reason !== 'left' && reason !== 'not-joined' && reason !== 'not-permitted') return
    part.departed.add(peerId)
    part.edges.delete(peerId)
  }

  #replay(part: StreamPart, peerId: NodeId, edge: Edge, attach: AnyAttach, nowMs: number): void {
    if (!isAttached(edge)) return
    if (nowMs - edge.replayedMs < this.#limits.minReplayIntervalMs) {
      this.#modules.counters['replay.refused']++
      return
    }
    edge.replayedMs = nowMs
    // A feeder does not bring what others published before it became one, and a light node never does.
    const isSent = (chain: MessageChain) =>
      (part.reads && !this.#modules.isLight) || part.seen.find(chain)?.isOwn === true
    for (const { packet, delegationRef } of part.recent.replayFor(attach, nowMs, isSent))
      this.#modules.effects.sendData(peerId, packet, delegationRef)
  }

  /**
   * The peer had no answer to its attach. Answered no more often than attaches are repeated, or two nodes would answer
   * each other forever.
   */
  #answerAgain(part: StreamPart, peerId: NodeId, edge: Edge, packet: AnyAttach, nowMs: number): void {
    if (!edge.sent || nowMs - edge.sentAtMs < this.#limits.attachRetryMs) return
    this.#sendAttach(part, peerId, edge, nowMs)
    this.#replay(part, peerId, edge, packet, nowMs)
  }

  #sendAttach(part: StreamPart, peerId: NodeId, edge: Edge, nowMs: number): void {
    if (!edge.sent) edge.firstSentAtMs = nowMs
    edge.sent = true
    edge.retiredAtMs = undefined
    edge.sentAtMs = nowMs
    this.#modules.effects.sendControl(peerId, part.attachPacket(nowMs))
  }

  #sendDetach(part: StreamPart, peerId: NodeId, reason: DetachReason, nowMs: number): void {
    this.#modules.effects.sendControl(peerId, detachPacket({ streamPartId: part.id }, reason))
    this.#modules.peers.detached(peerId, nowMs)
  }

  #report(part: StreamPart, peerId: NodeId, reason: FailureReason): void {
    part.fail(peerId, reason)
    this.#modules.effects.statusDue(part.id)
  }

  #count(counter: CounterName, detail: string): void {
    drop(this.#modules, counter, detail)
  }
}

function detachPacket(of: Pick<Detach, 'streamPartId'>, reason: DetachReason): Detach {
  return { type: 'detach', streamPartId: of.streamPartId, reason }
}
