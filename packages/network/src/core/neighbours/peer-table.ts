import { backoffMs, sameContact, RareMap, type Contact, type NodeId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { LinkView } from './reconcile.ts'
import { UselessData, type LinkLoad, type UselessDataLimits } from './useless-data.ts'

export interface PeerTableLimits extends UselessDataLimits {
  readonly minBackoffMs: number
  readonly maxBackoffMs: number
  readonly linkLingerMs: number
  readonly banMs: number
  readonly maxBans: number
}

interface Peer {
  state: LinkView['state']
  /** As it was dialled last. */
  contact: Contact | undefined
  dialledAtMs: number
  retryAtMs: number
  /** Failed or lost links in a row. */
  failures: number
  /** Stream parts that want or have this peer. */
  uses: number
  unusedSinceMs: number
  useless: UselessData
}

/**
 * What a node knows of each peer, across stream parts: its link, when it may be dialled again, whether it is still used, and
 * whether it misbehaved.
 */
export class PeerTable {
  readonly #limits: PeerTableLimits
  readonly #counters: Counters
  readonly #peers = new Map<NodeId, Peer>()
  /** Until when each peer is banned, in order of the misbehaviour. */
  readonly #bans = new RareMap<NodeId, number>()

  constructor(limits: PeerTableLimits, counters: Counters) {
    this.#limits = limits
    this.#counters = counters
  }

  /** The links, for `reconcile`. */
  get links(): ReadonlyMap<NodeId, LinkView> {
    return this.#peers
  }

  isOpen(peerId: NodeId): boolean {
    return this.#peers.get(peerId)?.state === 'open'
  }

  isBanned(peerId: NodeId, nowMs: number): boolean {
    const untilMs = this.#bans.get(peerId)
    return untilMs !== undefined && untilMs > nowMs
  }

  opening(peerId: NodeId, contact: Contact, nowMs: number): void {
    const peer = this.#of(peerId, nowMs)
    peer.state = 'opening'
    peer.contact = contact
    peer.dialledAtMs = nowMs
  }

  /** Whether a peer has no link, was not dialled at this time or later, and does not have to wait for its next attempt. */
  mayDialAgain(peerId: NodeId, sinceMs: number, nowMs: number): boolean {
    const peer = this.#peers.get(peerId)
    if (peer === undefined) return !this.isBanned(peerId, nowMs)
    if (peer.state === 'opening') return peer.dialledAtMs < sinceMs
    return peer.state === 'closed' && peer.retryAtMs <= nowMs
  }

  /** Whether it is being dialled by another contact than this. */
  isOpeningOtherwise(peerId: NodeId, contact: Contact): boolean {
    const peer = this.#peers.get(peerId)
    return peer?.state === 'opening' && peer.contact !== undefined && !sameContact(peer.contact, contact)
  }

  opened(peerId: NodeId, nowMs: number): void {
    const peer = this.#of(peerId, nowMs)
    peer.state = 'open'
    peer.unusedSinceMs = nowMs
    peer.useless = new UselessData(this.#limits, nowMs)
  }

  /** An attach was answered: the link is good, so the next failure starts from the shortest pause. */
  proven(peerId: NodeId): void {
    const peer = this.#peers.get(peerId)
    if (peer !== undefined) peer.failures = 0
  }

  /** The link failed or was lost; it is dialled again after a pause. */
  closed(peerId: NodeId, nowMs: number): void {
    const peer = this.#peers.get(peerId)
    if (peer === undefined) return
    const { minBackoffMs, maxBackoffMs } = this.#limits
    peer.state = 'closed'
    peer.failures++
    peer.retryAtMs = nowMs + backoffMs(peer.failures, minBackoffMs, maxBackoffMs)
    if (this.isBanned(peerId, nowMs)) peer.retryAtMs = this.#bans.get(peerId) ?? peer.retryAtMs
    this.#forgetIfIdle(peerId, peer)
  }

  /** Past failures were not the peers' fault: all but the banned may be dialled again now. */
  hurry(nowMs: number): void {
    for (const [peerId, peer] of this.#peers) {
      if (peer.state !== 'closed' || this.isBanned(peerId, nowMs)) continue
      peer.failures = 0
      peer.retryAtMs = 0
    }
  }

  use(peerId: NodeId, nowMs: number): void {
    this.#of(peerId, nowMs).uses++
  }

  unuse(peerId: NodeId, nowMs: number): void {
    const peer = this.#peers.get(peerId)
    if (peer === undefined) return
    peer.uses--
    peer.unusedSinceMs = nowMs
    this.#forgetIfIdle(peerId, peer)
  }

  /** Peers whose links were unused for the linger time. */
  unused(nowMs: number): NodeId[] {
    const due: NodeId[] = []
    for (const [peerId, peer] of this.#peers) {
      if (this.#closesAtMs(peer) <= nowMs) due.push(peerId)
    }
    return due
  }

  /** When the next link is due to be closed. */
  get dueMs(): number {
    let dueMs = Infinity
    for (const peer of this.#peers.values()) dueMs = Math.min(dueMs, this.#closesAtMs(peer))
    return dueMs
  }

  ban(peerId: NodeId, nowMs: number): void {
    this.#bans.delete(peerId)
    this.#bans.set(peerId, nowMs + this.#limits.banMs)
    for (const [banned, untilMs] of this.#bans) {
      const expired = untilMs <= nowMs
      if (!expired && this.#bans.size <= this.#limits.maxBans) break
      this.#bans.delete(banned)
      if (!expired) this.#counters['peers.bansDropped']++
    }
    const peer = this.#peers.get(peerId)
    if (peer !== undefined) peer.retryAtMs = nowMs + this.#limits.banMs
  }

  /** We sent a detach, or what ends reading, to a peer that may send: data may be in flight. */
  detached(peerId: NodeId, nowMs: number): void {
    this.#peers.get(peerId)?.useless.detached(nowMs)
  }

  /** A peer that may send has detached: what it sent before may come after that. */
  departed(peerId: NodeId): void {
    this.#peers.get(peerId)?.useless.departed()
  }

  /** Counts a data packet of so many bytes from a peer that is no neighbour. True when there was too much. */
  isTooMuchUseless(peerId: NodeId, bytes: number, link: LinkLoad, nowMs: number): boolean {
    return this.#peers.get(peerId)?.useless.isTooMuch(bytes, link, nowMs) ?? false
  }

  #closesAtMs(peer: Peer): number {
    if (peer.state === 'closed' || peer.uses > 0) return Infinity
    return peer.unusedSinceMs + this.#limits.linkLingerMs
  }

  #of(peerId: NodeId, nowMs: number): Peer {
    let peer = this.#peers.get(peerId)
    if (peer === undefined) {
      const retryAtMs = this.isBanned(peerId, nowMs) ? (this.#bans.get(peerId) ?? 0) : 0
      peer = {
        state: 'closed',
        contact: undefined,
        dialledAtMs: nowMs,
        retryAtMs,
        failures: 0,
        uses: 0,
        unusedSinceMs: nowMs,
        useless: new UselessData(this.#limits, nowMs),
      }
      this.#peers.set(peerId, peer)
    }
    return peer
  }

  /** A peer without link and use is forgotten: its pause matters only while it is wanted. */
  #forgetIfIdle(peerId: NodeId, peer: Peer): void {
    if (peer.state === 'closed' && peer.uses === 0) this.#peers.delete(peerId)
  }
}
