import {
  compareRefs,
  digestCheck,
  limits as wireLimits,
  placeOf,
  type MessageBatch,
  type MessageRef,
  type NodeId,
  type Time,
  type UrgentDigest,
  type UrgentPlace,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import type { Announced } from '../thin/announced-batches.ts'
import type { Ask } from '../thin/chain-ways.ts'
import { urgentPullTimes } from './kept-urgent.ts'
import type { UrgentChain, UrgentChains } from './urgent-chains.ts'

export interface UrgentPullsLimits {
  readonly minUrgentPullWaitMs: number
  readonly maxUrgentPullWaitMs: number
  readonly urgentPassedMs: number
  readonly urgentPullRetryMs: number
  readonly clockToleranceMs: number
}

export interface UrgentPullsModules {
  readonly effects: Pick<OverlayEffects, 'sendControl'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly chains: UrgentChains
  readonly self: NodeId
  rttOf(peerId: NodeId): number | undefined
  /** Whether a message came already, or would count as if it had. */
  isSeen(chain: UrgentChain, place: MessageRef): boolean
  ask(chain: UrgentChain, asks: readonly Ask[], nowMs: number): void
}

/** The urgent messages that neighbours say they have: what does not come is asked for, of one after the other. Nothing of it is believed. */
export class UrgentPulls {
  readonly #limits: UrgentPullsLimits
  readonly #modules: UrgentPullsModules
  /** A lower bound. */
  #dueMs = Infinity

  constructor(limits: UrgentPullsLimits, modules: UrgentPullsModules) {
    this.#limits = limits
    this.#modules = modules
  }

  get dueMs(): number {
    return this.#dueMs
  }

  /** A neighbour says that it has a message. */
  named(chain: UrgentChain, peerId: NodeId, entry: UrgentDigest['entries'][number], time: Time): void {
    const { nowMs, wallMs } = time
    if (this.#modules.isSeen(chain, entry)) return chain.ways.said(peerId)
    if (entry.timestamp > wallMs + this.#limits.clockToleranceMs) return
    const { check } = entry
    const dueMs = nowMs + this.#waitMs(chain, entry)
    if (!chain.announced.add(placeOf(entry), { peerId, check }, { nowMs, dueMs }))
      this.#modules.counters['thin.dropped']++
    this.#isDue(dueMs)
  }

  /** A message came. Returns what was said of it before by those who have it. */
  came(chain: UrgentChain, batch: MessageBatch, place: MessageRef): Announced | undefined {
    return chain.announced.take(place, () => digestCheck(batch.bytes, this.#modules.self)).announced
  }

  /** The eager way brought a message: what is before it, and was announced, is lost there, or nearly here. */
  passed(chain: UrgentChain, place: MessageRef, nowMs: number): void {
    if (chain.newest !== undefined && compareRefs(chain.newest, place) >= 0) return
    chain.newest = placeOf(place)
    const dueMs = nowMs + this.#limits.urgentPassedMs
    chain.announced.hurry(place, dueMs)
    this.#isDue(chain.announced.dueMs)
  }

  tick(nowMs: number): void {
    if (this.#dueMs > nowMs) return
    this.#dueMs = Infinity
    const pulls = new Map<NodeId, UrgentPlace[]>()
    for (const chain of this.#modules.chains) {
      this.#modules.parts.within(chain.part, () => this.#next(chain, pulls, nowMs))
      this.#isDue(chain.announced.dueMs)
    }
    for (const [peerId, places] of pulls)
      for (let i = 0; i < places.length; i += wireLimits.maxDigestEntries)
        this.#send(peerId, places.slice(i, i + wireLimits.maxDigestEntries))
  }

  #next(chain: UrgentChain, pulls: Map<NodeId, UrgentPlace[]>, nowMs: number): void {
    const againMs = (peerId: NodeId): number =>
      Math.ceil((this.#modules.rttOf(peerId) ?? 0) + this.#limits.urgentPullRetryMs)
    for (const { place, peerId, before } of chain.announced.next(nowMs, urgentPullTimes, againMs)) {
      if (this.#modules.isSeen(chain, place)) {
        chain.announced.forget(place)
        continue
      }
      if (before !== undefined) this.#unserved(chain, before, nowMs)
      if (peerId === undefined) continue
      this.#modules.counters['urgent.pulled']++
      const places = pulls.get(peerId) ?? []
      places.push({ alias: chain.alias, ...place })
      pulls.set(peerId, places)
    }
  }

  /** A single one may be lost, on either way. */
  #unserved(chain: UrgentChain, peerId: NodeId, nowMs: number): void {
    if (chain.ways.standby(nowMs) !== peerId || !chain.unserved.missed()) return
    chain.unserved.clear()
    this.#modules.ask(chain, chain.ways.withheld(peerId, nowMs), nowMs)
  }

  /** How long after its announcement a message is asked for: what is eager may bring it. */
  #waitMs({ lateness, newest }: UrgentChain, place: MessageRef): number {
    const { minUrgentPullWaitMs, maxUrgentPullWaitMs, urgentPassedMs } = this.#limits
    if (newest !== undefined && compareRefs(place, newest) < 0) return urgentPassedMs
    const usualMs = Math.min(maxUrgentPullWaitMs, Math.max(minUrgentPullWaitMs, lateness.boundMs ?? 0))
    return Math.ceil(usualMs)
  }

  #send(peerId: NodeId, entries: readonly UrgentPlace[]): void {
    this.#modules.effects.sendControl(peerId, { type: 'urgentPull', entries }, true)
  }

  #isDue(dueMs: number): void {
    this.#dueMs = Math.min(this.#dueMs, dueMs)
  }
}
