import {
  backoffMs,
  type Detach,
  type DetachReason,
  type MessageChain,
  type NodeId,
  type Time,
} from '@runnel/protocol'
import type { NetworkLimits } from '../../limits.ts'
import type { Counters } from '../counters.ts'
import { drop } from '../drop.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import { isAttached, type Edge } from '../stream-part/edge.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import type { EdgeSteps } from './edge-steps.ts'
import { wantsToRead, type AnyAttach } from './part-members.ts'
import type { PeerTable } from './peer-table.ts'
import type { Permits } from './permits.ts'

export interface AttachesModules {
  readonly effects: Pick<OverlayEffects, 'sendData' | 'hostRefused' | 'statusDue' | 'dropped'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly peers: PeerTable
  readonly steps: EdgeSteps
  /** Its neighbours are hosts: no tracker says when to ask one again that refused. */
  readonly isLight: boolean
}

/** What peers say of edges: who attaches is let in, and brought what it cannot have, or refused; and some detach. */
export class Attaches {
  readonly #limits: NetworkLimits
  readonly #modules: AttachesModules
  readonly #permits: Permits

  constructor(limits: NetworkLimits, modules: AttachesModules, permits: Permits) {
    this.#limits = limits
    this.#modules = modules
    this.#permits = permits
  }

  onAttach(peerId: NodeId, packet: AnyAttach, time: Time): void {
    const { nowMs } = time
    const { parts, peers, counters, steps } = this.#modules
    const { streamPartId: id } = packet
    if (!peers.isOpen(peerId)) return
    const part = parts.get(id)
    if (part === undefined || part.isResting) {
      counters['attach.notJoined']++
      steps.detach({ id }, peerId, 'not-joined', nowMs)
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
    if (!edge.sent) steps.attach(part, peerId, edge, nowMs)
    peers.proven(peerId)
    steps.refresh(part, nowMs)
    if (part.isAttached(peerId)) for (const head of packet.heads) part.seen.shown(peerId, head, head)
    this.#replay(part, peerId, edge, packet, nowMs)
  }

  onDetach(peerId: NodeId, packet: Detach, nowMs: number): void {
    const { parts, counters, peers, steps } = this.#modules
    counters['detach.received']++
    const part = parts.get(packet.streamPartId)
    const edge = part?.edges.get(peerId)
    const { reason } = packet
    if (part === undefined) return
    if (edge?.sent === true || part.members.feeders.has(peerId)) peers.departed(peerId)
    if (part.members.delete(peerId)) steps.refresh(part, nowMs)
    if (edge === undefined) {
      // Our packet that says that the edge may end was lost.
      if (reason === 'replaced') steps.detach(part, peerId, 'not-wanted', nowMs)
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
    steps.refresh(part, nowMs)
  }

  /** An attach of a peer that no instruction of ours names: the instruction may not have arrived yet. */
  #refuses(part: StreamPart, peerId: NodeId, nowMs: number): boolean {
    if (part.wanted.has(peerId) || part.edges.has(peerId)) return false
    const refused = part.isRefused(peerId, nowMs)
    if (!refused && part.provisional < this.#limits.maxProvisional) return false
    drop(this.#modules, refused ? 'attach.refused' : 'attach.full', `${part.id} ${peerId}`)
    this.#modules.steps.detach(part, peerId, refused ? 'not-wanted' : 'full', nowMs)
    return true
  }

  #refusesGuest(part: StreamPart, peerId: NodeId, nowMs: number): boolean {
    const reason = part.reads ? 'full' : 'not-permitted'
    if (part.reads && !part.isRefused(peerId, nowMs)) return false
    drop(this.#modules, 'guests.refused', `${part.id} ${peerId}`)
    this.#modules.steps.detach(part, peerId, reason, nowMs)
    return true
  }

  /** A wanted peer does not want to be a neighbour, or no longer. */
  #refused(part: StreamPart, peerId: NodeId, edge: Edge, reason: DetachReason, nowMs: number): void {
    const { effects, counters, steps, isLight } = this.#modules
    const wasAttached = isAttached(edge)
    // It may have had our attach by two connections, and refuse each.
    if (edge.sent) edge.refusals++
    edge.sent = false
    edge.received = false
    edge.reported = false
    edge.retiredAtMs = undefined
    edge.released = false
    edge.retryAtMs = nowMs + backoffMs(edge.refusals, this.#limits.minBackoffMs, this.#limits.maxBackoffMs)
    if (isLight) {
      counters['hosts.refused']++
      return effects.hostRefused(part.id, peerId, reason)
    }
    // Newer instructions are likely in flight to one of the two, so the first time is no failure.
    if (reason === 'not-joined' || reason === 'full' || reason === 'not-permitted' || edge.refusals > 1) {
      steps.report(part, peerId, 'refused')
    } else if (wasAttached && reason === 'left') effects.statusDue(part.id, true)
    if (reason !== 'left' && reason !== 'not-joined' && reason !== 'not-permitted') return
    part.departed.add(peerId)
    part.edges.delete(peerId)
  }

  /**
   * The peer had no answer to its attach. Answered no more often than attaches are repeated, or two nodes would answer
   * each other forever.
   */
  #answerAgain(part: StreamPart, peerId: NodeId, edge: Edge, packet: AnyAttach, nowMs: number): void {
    if (!edge.sent || nowMs - edge.sentAtMs < this.#limits.attachRetryMs) return
    // It may be another process than the one that had, and asked for, what this node remembers.
    part.forget(peerId)
    for (const head of packet.heads) part.seen.shown(peerId, head, head)
    this.#modules.steps.attach(part, peerId, edge, nowMs)
    this.#replay(part, peerId, edge, packet, nowMs)
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
}
