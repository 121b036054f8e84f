import type { FloodMode, MessageBatch, MessageRef, NodeId, UrgentMessage, UrgentPull } from '@runnel/protocol'
import type { OverlayEffects } from '../overlay-effects.ts'
import { KeptUrgent, urgentPullTimes, type KeptUrgentLimits } from './kept-urgent.ts'
import { firstPriorities } from './publisher-share.ts'
import {
  UrgentLinks,
  type UrgentAsked,
  type UrgentLinksLimits,
  type UrgentLinksModules,
} from './urgent-links.ts'

export interface UrgentServingLimits extends UrgentLinksLimits, KeptUrgentLimits {}

export interface UrgentServingModules extends UrgentLinksModules {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'sendUrgent'>
}

/** What neighbours that asked for fewer copies get: digests, and of what these name each message, if they ask for it, twice at most. */
export class UrgentServing {
  readonly #modules: UrgentServingModules
  readonly #links: UrgentLinks
  readonly #kept: KeptUrgent

  constructor(limits: UrgentServingLimits, modules: UrgentServingModules) {
    this.#modules = modules
    this.#links = new UrgentLinks(limits, modules)
    this.#kept = new KeptUrgent(limits)
  }

  get isIdle(): boolean {
    return this.#links.size + this.#kept.size === 0
  }

  get dueMs(): number {
    return this.#links.dueMs
  }

  /** A neighbour asks for fewer copies of a chain, or for all. False when it asked too much. */
  ask(peerId: NodeId, asked: UrgentAsked): boolean {
    return this.#links.ask(peerId, asked)
  }

  /** What a neighbour asked for, of one chain. */
  modeOf(peerId: NodeId, chain: string, nowMs: number): FloodMode {
    return this.#links.modeOf(peerId, chain, nowMs)
  }

  /** Whether a neighbour is sent a copy of a message; if it asked for less, it is told of it instead. */
  isSent(
    peerId: NodeId,
    { batch, place }: { readonly batch: MessageBatch; readonly place: MessageRef },
    urgent: UrgentMessage,
    nowMs: number,
  ): boolean {
    const mode = this.#links.modeOf(peerId, urgent.chain, nowMs)
    if (mode === 'eager' || (mode === 'standby' && urgent.priority < firstPriorities)) return true
    this.#kept.keep(place, urgent, batch.delegationRef, nowMs)
    this.#links.tell(peerId, urgent.chain, { place, bytes: batch.bytes }, nowMs)
    return false
  }

  /** A neighbour asks for what it was told of. */
  pulled(peerId: NodeId, entries: UrgentPull['entries'], nowMs: number): void {
    for (const entry of entries) {
      const chain = this.#links.chainOf(peerId, entry.alias)
      const kept = chain === undefined ? undefined : this.#kept.find(chain, entry, nowMs)
      const times = kept?.sentTo.get(peerId) ?? 0
      if (kept === undefined || times >= urgentPullTimes) {
        this.#modules.counters['urgent.notServed']++
        continue
      }
      kept.sentTo.set(peerId, times + 1)
      this.#modules.counters['urgent.served']++
      this.#modules.effects.sendUrgent(peerId, kept.urgent, kept.delegationRef)
    }
  }

  tick(nowMs: number): void {
    this.#links.tick(nowMs)
  }

  closed(peerId: NodeId): void {
    this.#links.closed(peerId)
  }

  /** A peer is no neighbour in a stream part any more. */
  gone(streamPartId: string, peerId: NodeId, nowMs: number): void {
    this.#links.sweep(nowMs, streamPartId, peerId)
  }

  /** A stream part with these chains was left. */
  left(streamPartId: string, chains: ReadonlySet<string>, nowMs: number): void {
    this.#kept.sweep(nowMs, (chain) => chains.has(chain))
    this.#links.sweep(nowMs, streamPartId)
  }

  /** Forgets what has ended. */
  sweep(nowMs: number): void {
    this.#kept.sweep(nowMs)
    this.#links.sweep(nowMs)
  }
}
