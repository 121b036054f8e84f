import type { NodeId, Time } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import { drop } from '../drop.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { Edge } from '../stream-part/edge.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { EdgeSteps } from './edge-steps.ts'
import type { MemberCheck, Permit } from './member-check.ts'
import type { AnyAttach, WaitingAttach } from './part-members.ts'
import type { PeerLinks } from './peer-links.ts'
import type { PeerTable } from './peer-table.ts'

export interface PermitsModules {
  readonly memberCheck: MemberCheck
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'dropped'>
  readonly counters: Counters
  readonly peers: PeerTable
  readonly steps: EdgeSteps
}

export interface PermitsLimits {
  readonly attachRetryMs: number
  readonly readerRetryMs: number
}

/** Keeps out neighbours that may not read and feeders that may not publish, and detaches those that lose the permission. */
export class Permits {
  readonly #limits: PermitsLimits
  readonly #modules: PermitsModules
  readonly #links: PeerLinks

  constructor(limits: PermitsLimits, modules: PermitsModules, links: PeerLinks) {
    this.#limits = limits
    this.#modules = modules
    this.#links = links
  }

  /**
   * The user that an attaching peer acts for, and until when it may read; undefined when it may not, or the registry is
   * asked first.
   */
  reader(
    part: StreamPart,
    peerId: NodeId,
    packet: AnyAttach,
    time: Time,
  ): Pick<Edge, 'userId' | 'readsUntilMs'> | undefined {
    const { memberCheck } = this.#modules
    const userId = this.#userOf(peerId, packet, time)
    if (userId === undefined) return undefined
    const permit = memberCheck.reads(part.scope, peerId, userId, time)
    const edge = part.edges.get(peerId)
    // An attached peer stays until the registry says no.
    if (permit === 'unknown' && edge?.received === true && edge.userId === userId)
      return { userId, readsUntilMs: edge.readsUntilMs }
    const readsUntilMs = this.#permitted(part, peerId, { userId, packet }, permit, time.nowMs)
    return readsUntilMs === undefined ? undefined : { userId, readsUntilMs }
  }

  /** Detaches who may be there no longer. Of whom nothing is known stays until the registry answers, which is asked again. */
  check(part: StreamPart, time: Time, onlyUserId?: NodeId): void {
    const { memberCheck } = this.#modules
    const { nowMs } = time
    let dueMs = onlyUserId === undefined ? Infinity : part.readersDueMs
    const again = (): void => void (dueMs = Math.min(dueMs, nowMs + this.#limits.readerRetryMs))
    for (const [peerId, edge] of [...part.edges]) {
      const { userId } = edge
      if (userId === undefined || userId !== (onlyUserId ?? userId)) continue
      const permit = memberCheck.reads(part.scope, peerId, userId, time)
      if (permit === 'unknown') {
        again()
        continue
      }
      edge.readsUntilMs = permit.untilMs
      if (permit.untilMs <= nowMs) this.#expel(part, peerId, nowMs)
    }
    for (const [peerId, { userId }] of [...part.members.feeders]) {
      if (userId !== (onlyUserId ?? userId)) continue
      const permit = memberCheck.publishes(part.scope, peerId, userId, time)
      if (permit === 'unknown') again()
      else if (permit.untilMs <= nowMs) this.#expel(part, peerId, nowMs)
      else dueMs = Math.min(dueMs, permit.untilMs)
    }
    for (const { userId, readsUntilMs } of part.edges.values())
      if (userId !== undefined && readsUntilMs > nowMs) dueMs = Math.min(dueMs, readsUntilMs)
    part.readersDueMs = dueMs
  }

  /** A peer that may publish and not read: it gets an answer, so that it sends what it publishes, and nothing else. */
  onFeederAttach(part: StreamPart, peerId: NodeId, packet: AnyAttach, time: Time): void {
    const { nowMs } = time
    const { memberCheck, effects, peers, counters } = this.#modules
    if (!part.reads) return
    const before = part.members.feeders.get(peerId)
    if (before !== undefined && nowMs - before.answeredMs < this.#limits.attachRetryMs) {
      counters['attach.repeated']++
      return
    }
    if (!part.wanted.has(peerId) && !part.edges.has(peerId) && part.isRefused(peerId, nowMs)) {
      drop(this.#modules, 'attach.refused', `${part.id} ${peerId}`)
      this.#modules.steps.detach(part, peerId, 'not-wanted', nowMs)
      return
    }
    const userId = this.#userOf(peerId, packet, time)
    if (userId === undefined) return
    const permit = memberCheck.publishes(part.scope, peerId, userId, time)
    const isIn = permit === 'unknown' && before?.userId === userId
    if (!isIn && this.#permitted(part, peerId, { userId, packet }, permit, nowMs) === undefined) return
    if (permit !== 'unknown') part.readersDueMs = Math.min(part.readersDueMs, permit.untilMs)
    part.members.answered(peerId)
    // What it sent while it was a neighbour may come after this.
    if (part.edges.get(peerId)?.sent === true) peers.departed(peerId)
    if (part.edges.delete(peerId) && part.wanted.has(peerId)) {
      // The instruction names it as a neighbour, which it cannot be.
      part.departed.add(peerId)
      this.#modules.steps.report(part, peerId, 'refused')
    }
    const feeder = { userId, answeredMs: nowMs }
    if (!part.members.feed(peerId, feeder)) {
      drop(this.#modules, 'attach.full', `${part.id} ${peerId}`)
      this.#modules.steps.detach(part, peerId, 'full', nowMs)
      this.#modules.steps.refresh(part, nowMs)
      return
    }
    effects.sendControl(peerId, part.attachForFeeder(feeder, nowMs))
    peers.proven(peerId)
    this.#modules.steps.refresh(part, nowMs)
  }

  #userOf(peerId: NodeId, packet: AnyAttach, time: Time): NodeId | undefined {
    const userId = this.#modules.memberCheck.userOf(peerId, packet.membership, time)
    if (userId === undefined) this.#links.misbehaved(peerId, 'too many membership tokens', time.nowMs)
    return userId
  }

  /**
   * Until when it may take part, by the monotonic clock; undefined when it may not, which it is told, or while the
   * registry is asked.
   */
  #permitted(
    part: StreamPart,
    peerId: NodeId,
    attach: WaitingAttach,
    permit: Permit,
    nowMs: number,
  ): number | undefined {
    if (permit === 'unknown') {
      if (part.members.wait(peerId, attach)) return undefined
      drop(this.#modules, 'attach.full', `${part.id} ${peerId}`)
      this.#modules.steps.detach(part, peerId, 'full', nowMs)
      return undefined
    }
    if (permit.untilMs > nowMs) return permit.untilMs
    this.#expel(part, peerId, nowMs)
    return undefined
  }

  /** Ends every relation with a peer that may neither read nor feed, and tells it why. */
  #expel(part: StreamPart, peerId: NodeId, nowMs: number): void {
    drop(this.#modules, 'attach.denied', `${part.id} ${peerId}`)
    this.#modules.steps.detach(part, peerId, 'not-permitted', nowMs)
    part.members.delete(peerId)
    part.edges.delete(peerId)
    if (part.wanted.has(peerId)) {
      part.departed.add(peerId)
      this.#modules.steps.report(part, peerId, 'refused')
    } else part.refuse(peerId, nowMs)
    this.#modules.steps.refresh(part, nowMs)
  }
}
