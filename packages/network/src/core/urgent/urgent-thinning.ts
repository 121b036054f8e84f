import {
  placeOf,
  type MessageBatch,
  type MessageRef,
  type NodeId,
  type StreamPartId,
  type Thin,
  type Time,
  type UrgentDigest,
  type UrgentMessage,
  type UrgentPull,
} from '@runnel/protocol'
import { Allowances } from '../allowances.ts'
import { drop } from '../drop.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import { ChainAsks, type ChainAsksLimits, type ChainAsksModules } from '../thin/chain-asks.ts'
import type { LinkModeTally } from '../thin/link-modes.ts'
import { firstPriorities } from './publisher-share.ts'
import { UrgentChains, urgentChainKey, type UrgentChainsLimits } from './urgent-chains.ts'
import { UrgentPulls, type UrgentPullsLimits, type UrgentPullsModules } from './urgent-pulls.ts'
import { UrgentServing, type UrgentServingLimits, type UrgentServingModules } from './urgent-serving.ts'

export interface UrgentThinningLimits
  extends UrgentChainsLimits, UrgentServingLimits, UrgentPullsLimits, ChainAsksLimits {
  readonly maxUrgentNamedPerS: number
}

export interface UrgentThinningModules
  extends UrgentServingModules, ChainAsksModules, Omit<UrgentPullsModules, 'chains' | 'ask'> {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'sendUrgent' | 'dropped'>
  /** False in a light node. */
  readonly relays: boolean
  /** In [0, 1). */
  random(): number
}

/** An urgent message that was taken or came again. */
export interface ComingUrgent {
  readonly batch: MessageBatch
  readonly place: MessageRef
  /** As its publisher signed it. */
  readonly priority: number
  /** Undefined of this process. */
  readonly from: NodeId | undefined
}

/**
 * Floods urgent messages with fewer copies, as `Thinning` does ordinary ones: each neighbour but the eager way of a chain is asked for digests. The
 * standby sends copies of what comes first, such as sound, which so has two ways; of all else digests as well. What they name and does not
 * come is asked for while there is time, of one neighbour after the other. Nothing is kept for longer.
 */
export class UrgentThinning {
  readonly #limits: UrgentThinningLimits
  readonly #modules: UrgentThinningModules
  readonly #chains: UrgentChains
  readonly #serving: UrgentServing
  readonly #asks: ChainAsks
  readonly #pulls: UrgentPulls
  /** Messages that neighbours name: each has to be looked up. */
  readonly #named: Allowances
  #sweepMs = Infinity

  constructor(limits: UrgentThinningLimits, modules: UrgentThinningModules) {
    this.#limits = limits
    this.#modules = modules
    const chains = (this.#chains = new UrgentChains(limits, () => modules.random()))
    const asks = (this.#asks = new ChainAsks(limits, modules))
    this.#serving = new UrgentServing(limits, modules)
    this.#named = new Allowances(limits.maxUrgentNamedPerS)
    this.#pulls = new UrgentPulls(limits, {
      ...{ ...modules, chains },
      ask: (chain, wanted, nowMs) => asks.send(chain, wanted, nowMs),
    })
  }

  /** When `tick` is due. */
  get dueMs(): number {
    return Math.min(this.#serving.dueMs, this.#pulls.dueMs, this.#sweepMs)
  }

  /** A message was taken. Returns who is known to have it besides the one that brought it. */
  taken(part: StreamPart, { batch, place, priority, from }: ComingUrgent, nowMs: number): readonly NodeId[] {
    const chain = this.#modules.relays ? this.#chains.of(part, batch.chain, nowMs) : undefined
    if (chain === undefined) return []
    this.#sweepMs = Math.min(this.#sweepMs, nowMs + this.#limits.thinLeaseMs)
    const isFast = chain.pace.add(nowMs) && part.reads
    const announced = this.#pulls.came(chain, batch, place)
    const isEager = from !== undefined && chain.ways.modeOf(from, nowMs) === 'eager'
    if (isEager && announced !== undefined) chain.lateness.add(nowMs - announced.sinceMs)
    const isShared = priority < firstPriorities
    // What comes first overtakes others on any link.
    if (isEager && !isShared) this.#pulls.passed(chain, place, nowMs)
    else if (!isEager && from !== undefined && from === chain.ways.standby(nowMs)) chain.unserved.brought()
    const when = { nowMs, isFast, isShared, announced }
    this.#asks.send(chain, chain.ways.first(placeOf(place), from, when), nowMs)
    return announced?.peerIds ?? []
  }

  /** A message came again. */
  again(part: StreamPart, { batch, place, priority, from }: ComingUrgent, nowMs: number): void {
    const chain = this.#chains.find(urgentChainKey(part.id, batch.chain))
    if (chain === undefined || from === undefined) return
    if (!part.attached.includes(from) || !this.#modules.canThin(from)) return
    const isFast = part.reads && chain.pace.isFast(nowMs)
    const isShared = priority < firstPriorities
    const isEager = chain.ways.modeOf(from, nowMs) === 'eager'
    if (isEager && !isShared) this.#pulls.passed(chain, place, nowMs)
    const when = { nowMs, isFast, isShared }
    this.#asks.send(chain, chain.ways.again(place, from, when), nowMs)
  }

  /** Whether a neighbour is sent a copy of a message that was taken; if it asked for less, it is told of it instead. */
  isSent(peerId: NodeId, coming: ComingUrgent, urgent: UrgentMessage, nowMs: number): boolean {
    return this.#serving.isSent(peerId, coming, urgent, nowMs)
  }

  /** Whether a neighbour asked for less of all that a publisher sends in a stream part. */
  isSpared(peerId: NodeId, streamPartId: StreamPartId, publisherId: NodeId, nowMs: number): boolean {
    let isSpared = false
    for (const { key, part, id } of this.#chains) {
      if (part.id !== streamPartId || id.publisherId !== publisherId) continue
      if (this.#serving.modeOf(peerId, key, nowMs) === 'eager') return false
      isSpared = true
    }
    return isSpared
  }

  /** A neighbour asks for fewer copies of a chain, or for all. */
  onThin(peerId: NodeId, packet: Thin, nowMs: number): void {
    const { streamPartId, alias, mode, forMs } = packet
    const chain = urgentChainKey(streamPartId, packet)
    const known = this.#chains.find(chain)
    const isNeighbour = known?.part.attached.includes(peerId) === true
    const asked = { chain, streamPartId, alias, mode, untilMs: nowMs + forMs }
    if (isNeighbour && this.#serving.ask(peerId, asked)) return
    drop(this.#modules, 'thin.refused', peerId)
  }

  /** A neighbour says what it has. */
  onDigest(peerId: NodeId, { entries }: UrgentDigest, time: Time): void {
    for (const entry of entries) {
      const isHeard = this.#named.take(peerId, time.nowMs)
      const chain = isHeard ? this.#chains.byAlias(entry.alias) : undefined
      if (chain?.part.attached.includes(peerId) !== true) this.#modules.counters['digest.ignored']++
      else this.#modules.parts.within(chain.part, () => this.#pulls.named(chain, peerId, entry, time))
    }
  }

  /** A neighbour asks for what it was told of. */
  onPull(peerId: NodeId, { entries }: UrgentPull, nowMs: number): void {
    const heard = entries.filter(() => this.#named.take(peerId, nowMs))
    this.#modules.counters['urgent.notServed'] += entries.length - heard.length
    this.#serving.pulled(peerId, heard, nowMs)
  }

  tick({ nowMs }: Time): void {
    this.#serving.tick(nowMs)
    this.#pulls.tick(nowMs)
    if (this.#sweepMs <= nowMs) this.#sweep(nowMs)
  }

  linkClosed(peerId: NodeId): void {
    this.#serving.closed(peerId)
    this.#named.linkClosed(peerId)
  }

  /** A peer is no neighbour in a stream part any more. */
  gone(streamPartId: StreamPartId, peerId: NodeId, nowMs: number): void {
    for (const chain of this.#chains)
      if (chain.part.id === streamPartId) this.#asks.gone(chain, peerId, nowMs)
    this.#serving.gone(streamPartId, peerId, nowMs)
  }

  /** The stream part was left, or begins anew. */
  left(streamPartId: StreamPartId, nowMs: number): void {
    const keys = new Set<string>()
    for (const chain of [...this.#chains]) {
      if (chain.part.id !== streamPartId) continue
      keys.add(chain.key)
      this.#chains.forget(chain)
    }
    this.#serving.left(streamPartId, keys, nowMs)
  }

  /** Adds each chain to the count of those that go over a link in its mode. */
  tally(modes: LinkModeTally, nowMs: number): void {
    for (const { part, key, ways } of this.#chains)
      modes.add(part, (peerId) => ({
        received: ways.modeOf(peerId, nowMs),
        sent: this.#serving.modeOf(peerId, key, nowMs),
      }))
  }

  /** Neighbours that were told its alias know it for a lease from when they heard of it, and what they say by it comes later still. */
  #sweep(nowMs: number): void {
    const { thinLeaseMs } = this.#limits
    for (const chain of [...this.#chains])
      if (nowMs - chain.usedMs >= 2 * thinLeaseMs) this.#chains.forget(chain)
      else chain.ways.keep(chain.part.attached)
    this.#serving.sweep(nowMs)
    const isIdle = this.#chains.size === 0 && this.#serving.isIdle
    this.#sweepMs = isIdle ? Infinity : nowMs + thinLeaseMs
  }
}
