import type { DetachReason, NodeId, PermissionScope, StreamId, Time } from '@runnel/protocol'
import type { NetworkLimits } from '../../limits.ts'
import type { LostConnection } from '../events.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import { Attaches, type AttachesModules } from './attaches.ts'
import { EdgeSteps, type EdgeStepsModules } from './edge-steps.ts'
import { wantsToRead } from './part-members.ts'
import { PeerLinks, type PeerLinksModules } from './peer-links.ts'
import { Permits, type PermitsModules } from './permits.ts'
import { StatusNews, type StatusNewsModules } from './status-news.ts'

export interface NeighbourhoodModules
  extends
    EdgeStepsModules,
    StatusNewsModules,
    Omit<PeerLinksModules & PermitsModules & AttachesModules, 'steps'> {
  readonly effects: OverlayEffects
}

/** Keeps each stream part's neighbours as the tracker wants them, and the tracker informed. */
export class Neighbourhood {
  readonly links: PeerLinks
  readonly attaches: Attaches
  readonly news: StatusNews
  readonly #modules: NeighbourhoodModules
  readonly #steps: EdgeSteps
  readonly #permits: Permits

  constructor(limits: NetworkLimits, modules: NeighbourhoodModules) {
    this.#modules = modules
    const steps = (this.#steps = new EdgeSteps(limits, modules))
    const withSteps = { ...modules, steps }
    this.links = new PeerLinks(withSteps)
    this.#permits = new Permits(limits, withSteps, this.links)
    this.attaches = new Attaches(limits, withSteps, this.#permits)
    this.news = new StatusNews(limits, modules)
  }

  /** When `tick` is due. */
  get dueMs(): number {
    return Math.min(this.#modules.peers.dueMs, this.news.dueMs)
  }

  /** The stream part has another tracker, or a new connection to the same one. Another one passes signals on once it has instructed this node. */
  newSession(part: StreamPart, lost: LostConnection | undefined, nowMs: number): void {
    part.newSession()
    if (lost !== undefined) part.backSinceMs = nowMs
    if (lost === 'this') this.#steps.dialAgain(part, nowMs)
  }

  instructed(part: StreamPart, nowMs: number): void {
    for (const peerId of part.wanted.keys()) {
      if (this.#modules.peers.isBanned(peerId, nowMs)) this.#steps.report(part, peerId, 'misbehaved')
    }
    this.#steps.dialAgain(part, nowMs)
    part.backSinceMs = undefined
    // A peer that is found in another way by now need not be dialled to the end in the one before.
    for (const [peerId, contact] of part.pursued)
      if (this.#modules.peers.isOpeningOtherwise(peerId, contact))
        this.#steps.connect(part, peerId, contact, nowMs)
    this.#steps.refresh(part, nowMs)
  }

  leave(part: StreamPart, nowMs: number): void {
    for (const [peerId, edge] of part.edges) {
      if (edge.sent || edge.received) this.#steps.detach(part, peerId, 'left', nowMs)
    }
    for (const peerId of part.members.feeders.keys()) this.#steps.detach(part, peerId, 'left', nowMs)
    part.edges.clear()
    this.#steps.release(part, nowMs)
    if (part.updateAttached()) this.#modules.effects.neighbours(part.id, part.attached)
  }

  /** Like `leave`, after a fault: sends what can be sent to the neighbours, and releases the peers whatever else fails. */
  abandon(part: StreamPart, nowMs: number): void {
    this.#steps.release(part, nowMs)
    const edges = [...part.edges].filter(([, edge]) => edge.sent || edge.received)
    for (const peerId of [...edges.map(([peerId]) => peerId), ...part.members.feeders.keys()]) {
      try {
        this.#steps.detach(part, peerId, 'left', nowMs)
      } catch {
        // The fault is reported already; the neighbour notices when it attaches again.
      }
    }
  }

  /** Ends all that a guest has here, for a while. */
  dismissGuest(peerId: NodeId, reason: DetachReason, nowMs: number): void {
    this.#modules.parts.each((part) => {
      const isFeeder = part.members.feeders.has(peerId)
      if (part.edges.get(peerId)?.isGuest !== true && !isFeeder) return
      this.#steps.detach(part, peerId, reason, nowMs)
      part.edges.delete(peerId)
      part.members.delete(peerId)
      part.refuse(peerId, nowMs)
      this.#steps.refresh(part, nowMs)
    })
  }

  /** A light node uses these hosts from now on. */
  useHosts(part: StreamPart, hosts: readonly NodeId[], nowMs: number): void {
    part.useHosts(hosts)
    this.#steps.refresh(part, nowMs)
  }

  tick(time: Time): void {
    const { nowMs } = time
    this.#modules.parts.each((part) => {
      if (part.readersDueMs <= nowMs) this.#permits.check(part, time)
      if (part.dueMs <= nowMs) this.#steps.refresh(part, nowMs)
      if (part.schedule.isRttCheckDue(nowMs)) this.news.report(part)
    })
    this.news.tick(nowMs)
    this.links.tick(nowMs)
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
        if (found) this.attaches.onAttach(peerId, waiting.packet, time)
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
      this.#steps.refresh(part, time.nowMs)
      if (streamId !== undefined) this.#modules.effects.statusDue(part.id)
    })
  }

  /**
   * Reading begins or ends: the peers have to know. A node that does not read has no feeders, and data may be in flight to
   * it.
   */
  readingChanged(part: StreamPart, nowMs: number): void {
    for (const [peerId, edge] of part.edges) {
      if (edge.sent) this.#steps.attach(part, peerId, edge, nowMs)
      if (!part.reads) this.#modules.peers.detached(peerId, nowMs)
    }
    if (!part.reads) {
      for (const peerId of part.guests) {
        this.#steps.detach(part, peerId, 'not-permitted', nowMs)
        part.edges.delete(peerId)
      }
      for (const peerId of [...part.members.feeders.keys()]) {
        this.#steps.detach(part, peerId, 'left', nowMs)
        part.members.delete(peerId)
      }
      this.#steps.refresh(part, nowMs)
    }
    this.#modules.effects.statusDue(part.id)
  }
}
