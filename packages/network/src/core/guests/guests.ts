import {
  scopeOfPart,
  Shares,
  type DetachReason,
  type GuestAttach,
  type NodeId,
  type PermissionScope,
  type StreamPartId,
  type Time,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import { drop } from '../drop.ts'
import type { MemberCheck } from '../neighbours/member-check.ts'
import { wantsToRead } from '../neighbours/part-members.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import { GuestLookups, type GuestLookupsLimits } from './guest-lookups.ts'
import { GuestTraffic, type GuestTrafficLimits } from './guest-traffic.ts'

export interface GuestsLimits extends GuestTrafficLimits, GuestLookupsLimits {
  readonly maxGuestParts: number
  readonly maxWaitingGuests: number
  readonly guestJoinMs: number
  readonly guestLingerMs: number
}

export interface GuestsModules {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'guestPart' | 'dropped'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly memberCheck: MemberCheck
  /** The network of addresses that a peer's link comes from. */
  networkOf(peerId: NodeId): string
  /** Attaches a guest in a joined stream part. */
  attach(peerId: NodeId, packet: GuestAttach, time: Time): void
  /** Ends all that a guest has here, and tells it why. */
  dismiss(peerId: NodeId, reason: DetachReason, nowMs: number): void
  misbehaved(peerId: NodeId, detail: string, nowMs: number): void
}

interface Waiting {
  readonly peerId: NodeId
  readonly packet: GuestAttach
  readonly untilMs: number
}

/**
 * A host's guests: which nodes may be guests at once, for which of their stream parts the host joins what it would not be in, and how
 * much they are sent. All of it is shared out by the networks that the guests come from.
 */
export class Guests {
  readonly #limits: GuestsLimits
  readonly #modules: GuestsModules
  readonly #places: Shares<NodeId>
  readonly #networks = new Map<NodeId, string>()
  readonly #traffic: GuestTraffic
  readonly #lookups: GuestLookups
  /** Stream parts that are joined for guests alone. */
  readonly #joined: Shares<StreamPartId>
  readonly #joinedIds = new Set<StreamPartId>()
  /** Those that had no guest at the last look. */
  readonly #empty = new Set<StreamPartId>()
  /** Attaches in stream parts that are not joined yet. */
  readonly #waiting = new Map<string, Waiting>()
  readonly #waitingPlaces: Shares<string>
  /** Those that may have nothing left here, when the event is handled. */
  readonly #touched = new Set<NodeId>()
  /** Guests that took too much, to be dismissed when the event is handled. */
  readonly #leaving = new Set<NodeId>()
  #lookMs = Infinity

  constructor(limits: GuestsLimits, modules: GuestsModules) {
    this.#limits = limits
    this.#modules = modules
    this.#places = new Shares({ max: this.#limits.maxGuests, evict: 'newest' })
    this.#joined = new Shares({ max: this.#limits.maxGuestParts, evict: 'newest' })
    this.#waitingPlaces = new Shares({ max: this.#limits.maxWaitingGuests, evict: 'newest' })
    this.#traffic = new GuestTraffic(this.#limits)
    this.#lookups = new GuestLookups(this.#limits)
  }

  get size(): number {
    return this.#places.size
  }

  /** When `tick` is due. */
  get dueMs(): number {
    let dueMs = this.#joinedIds.size > 0 ? this.#lookMs : Infinity
    for (const { untilMs } of this.#waiting.values()) dueMs = Math.min(dueMs, untilMs)
    return dueMs
  }

  onAttach(peerId: NodeId, packet: GuestAttach, time: Time): void {
    const { nowMs } = time
    if (!this.#admit(peerId, nowMs)) return this.#refuse(peerId, packet, 'full')
    this.#touched.add(peerId)
    const { parts } = this.#modules
    const part = parts.get(packet.streamPartId)
    if (part === undefined) return this.#await(peerId, packet, time)
    const isAsked = (): boolean => part.members.waiting.has(peerId)
    if (isAsked() || part.edges.get(peerId)?.received === true || part.members.feeders.has(peerId))
      return this.#modules.attach(peerId, packet, time)
    const network = this.#networks.get(peerId) ?? ''
    if (!this.#lookups.hasRoom(network, nowMs)) return this.#refuse(peerId, packet, 'full')
    this.#modules.attach(peerId, packet, time)
    if (isAsked()) this.#lookups.add(network, nowMs)
  }

  /** A guest left a stream part, or attaches no longer. */
  onDetach(peerId: NodeId, streamPartId: StreamPartId): void {
    this.#forget(keyOf(peerId, streamPartId))
    this.#touched.add(peerId)
  }

  linkClosed(peerId: NodeId): void {
    this.#release(peerId)
    for (const [key, waiting] of this.#waiting) if (waiting.peerId === peerId) this.#forget(key)
  }

  /** The stream part is joined, for guests or not. */
  joined(streamPartId: StreamPartId, time: Time): void {
    for (const [key, { peerId, packet }] of [...this.#waiting]) {
      if (packet.streamPartId !== streamPartId) continue
      this.#forget(key)
      this.#modules.attach(peerId, packet, time)
    }
  }

  /** The registry answered whether users may read or publish here. */
  userResolved(scope: PermissionScope, found: boolean, time: Time): void {
    this.detached()
    if (!found) return
    for (const { peerId, packet } of [...this.#waiting.values()])
      if (scopeOfPart(packet.streamPartId) === scope) this.#await(peerId, packet, time)
  }

  /** Guests may have been detached. */
  detached(): void {
    for (const peerId of this.#networks.keys()) this.#touched.add(peerId)
  }

  /** A peer is sent data: when it is a guest that counts. */
  sending(peerId: NodeId, bytes: number, nowMs: number): void {
    const network = this.#networks.get(peerId)
    if (network === undefined) return
    this.#modules.counters['guests.bytes'] += bytes
    for (const victim of this.#traffic.take({ peerId, network }, bytes, nowMs)) this.#leaving.add(victim)
  }

  /** Dismisses those that took too much. Those that were refused, or left, and have nothing else here give up their places. */
  settle(nowMs: number): void {
    for (const peerId of this.#leaving) this.#dismiss(peerId, `${peerId} took the most`, nowMs)
    this.#leaving.clear()
    for (const peerId of this.#touched) if (!this.#isServed(peerId)) this.#release(peerId)
    this.#touched.clear()
  }

  tick(nowMs: number): void {
    for (const [key, { peerId, packet, untilMs }] of [...this.#waiting]) {
      if (untilMs > nowMs) continue
      this.#forget(key)
      this.#refuse(peerId, packet, 'not-joined')
      this.#touched.add(peerId)
    }
    if (this.#lookMs > nowMs) return
    this.#lookMs = nowMs + this.#limits.guestLingerMs
    for (const streamPartId of [...this.#joinedIds]) {
      if (this.#hasGuests(streamPartId)) this.#empty.delete(streamPartId)
      else if (this.#empty.has(streamPartId)) this.#leave(streamPartId)
      else this.#empty.add(streamPartId)
    }
  }

  #admit(peerId: NodeId, nowMs: number): boolean {
    if (this.#places.has(peerId)) return true
    const network = this.#modules.networkOf(peerId)
    for (const evicted of this.#places.add(peerId, network)) {
      if (evicted === peerId) return false
      this.#dismiss(evicted, `${evicted} made room for ${network}`, nowMs)
    }
    this.#networks.set(peerId, network)
    return true
  }

  #dismiss(peerId: NodeId, why: string, nowMs: number): void {
    drop(this.#modules, 'guests.dismissed', why)
    this.#modules.dismiss(peerId, 'full', nowMs)
    this.linkClosed(peerId)
  }

  /** Waits for the registry to say whether the guest may take part, and then for the stream part to be joined. */
  #await(peerId: NodeId, packet: GuestAttach, time: Time): void {
    const { memberCheck, misbehaved } = this.#modules
    const { streamPartId } = packet
    const { nowMs } = time
    const key = keyOf(peerId, streamPartId)
    const network = this.#networks.get(peerId) ?? ''
    const isKnown = this.#waiting.has(key)
    if (!isKnown && !this.#lookups.hasRoom(network, nowMs)) return this.#refuse(peerId, packet, 'full')
    const userId = memberCheck.userOf(peerId, packet.membership, time)
    if (userId === undefined) return misbehaved(peerId, 'too many membership tokens', nowMs)
    const scope = scopeOfPart(streamPartId)
    const permit = wantsToRead(packet)
      ? memberCheck.reads(scope, peerId, userId, time)
      : memberCheck.publishes(scope, peerId, userId, time)
    if (permit !== 'unknown' && permit.untilMs <= nowMs) {
      this.#forget(key)
      return this.#refuse(peerId, packet, 'not-permitted')
    }
    if (permit === 'unknown' && !isKnown) this.#lookups.add(network, nowMs)
    if (!isKnown && !this.#hasRoomFor(key, network)) return this.#refuse(peerId, packet, 'full')
    const untilMs = this.#waiting.get(key)?.untilMs ?? nowMs + this.#limits.guestJoinMs
    this.#waiting.set(key, { peerId, packet, untilMs })
    if (permit !== 'unknown') this.#join(streamPartId, peerId, nowMs)
  }

  /** Makes room among those of the network that has most waiting; false where that is its own. */
  #hasRoomFor(key: string, network: string): boolean {
    let hasRoom = true
    for (const evicted of this.#waitingPlaces.add(key, network)) {
      const waiting = this.#waiting.get(evicted)
      this.#waiting.delete(evicted)
      if (waiting === undefined) hasRoom = false
      else {
        this.#refuse(waiting.peerId, waiting.packet, 'full')
        this.#touched.add(waiting.peerId)
      }
    }
    return hasRoom
  }

  #forget(key: string): void {
    this.#waiting.delete(key)
    this.#waitingPlaces.delete(key)
  }

  #join(streamPartId: StreamPartId, peerId: NodeId, nowMs: number): void {
    if (this.#joined.has(streamPartId)) return
    if (this.#joinedIds.size === 0) this.#lookMs = nowMs + this.#limits.guestLingerMs
    this.#joinedIds.add(streamPartId)
    const evicted = this.#joined.add(streamPartId, this.#networks.get(peerId) ?? '')
    for (const other of evicted) {
      if (other !== streamPartId) this.#leave(other)
      else this.#joinedIds.delete(other)
    }
    if (this.#joinedIds.has(streamPartId)) return this.#modules.effects.guestPart(streamPartId, true)
    for (const [key, waiting] of [...this.#waiting]) {
      if (waiting.packet.streamPartId !== streamPartId) continue
      this.#forget(key)
      this.#refuse(waiting.peerId, waiting.packet, 'full')
      this.#touched.add(waiting.peerId)
    }
  }

  #leave(streamPartId: StreamPartId): void {
    this.#joined.delete(streamPartId)
    this.#joinedIds.delete(streamPartId)
    this.#empty.delete(streamPartId)
    this.#modules.effects.guestPart(streamPartId, false)
  }

  /** Whether it is attached somewhere, or waits to be. */
  #isServed(peerId: NodeId): boolean {
    for (const waiting of this.#waiting.values()) if (waiting.peerId === peerId) return true
    for (const { edges, members } of this.#modules.parts)
      if (edges.get(peerId)?.isGuest === true || members.feeders.has(peerId) || members.waiting.has(peerId))
        return true
    return false
  }

  #release(peerId: NodeId): void {
    this.#places.delete(peerId)
    this.#networks.delete(peerId)
  }

  #hasGuests(streamPartId: StreamPartId): boolean {
    const part = this.#modules.parts.get(streamPartId)
    if (part === undefined) return false
    return part.guests.length > 0 || part.members.feeders.size > 0
  }

  #refuse(peerId: NodeId, { streamPartId }: GuestAttach, reason: DetachReason): void {
    drop(this.#modules, 'guests.refused', `${peerId} in ${streamPartId}: ${reason}`)
    this.#modules.effects.sendControl(peerId, { type: 'detach', streamPartId, reason })
  }
}

function keyOf(peerId: NodeId, streamPartId: StreamPartId): string {
  return `${peerId} ${streamPartId}`
}
