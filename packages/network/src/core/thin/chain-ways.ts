import type { FloodMode, MessageRef, NodeId } from '@runnel/protocol'
import type { Announced } from './announced-batches.ts'
import { BatchCopies } from './batch-copies.ts'
import { Misses } from './misses.ts'
import { Way } from './way.ts'

export interface ChainWaysLimits {
  readonly thinAfterLate: number
  readonly maxThinAfterLate: number
  readonly thinLeaseMs: number
  readonly thinGainMs: number
}

/** A neighbour is to be asked for a mode. */
export interface Ask {
  readonly peerId: NodeId
  readonly mode: FloodMode
}

/** How a batch came. */
export interface Coming {
  readonly nowMs: number
  /** The chain is worth asking. */
  readonly isFast: boolean
  /** The standby is to send it as well: it may be first, and its copies are asked for. */
  readonly isShared?: boolean | undefined
}

/** A neighbour that has said nothing of so many batches gets them from here, or not at all. */
const silentBatches = 16
/** Copies that come unasked, after which it is asked again. */
const unaskedCopies = 8

/**
 * By which neighbours the batches of one chain come. Who brings them first goes on; who brings copies late,
 * several times in a row, is asked for digests, the first one as a standby. Who brings in spite of that what nobody else has is
 * asked for copies again at once. An ask ends by itself, so that nothing has to be undone when a chain pauses, or an ask is lost.
 */
export class ChainWays {
  readonly #limits: ChainWaysLimits
  readonly #ways = new Map<NodeId, Way>()
  readonly #copies = new BatchCopies()
  readonly #misses = new Misses()
  #batches = 0
  /** Published by this process, which lacks nothing and needs no standby. */
  #isOwn = false

  constructor(limits: ChainWaysLimits) {
    this.#limits = limits
  }

  /** Peers that something is remembered of. */
  get size(): number {
    return this.#ways.size
  }

  modeOf(peerId: NodeId, nowMs: number): FloodMode {
    const way = this.#ways.get(peerId)
    return way !== undefined && way.untilMs > nowMs ? way.mode : 'eager'
  }

  /** The neighbour that is to send what does not come otherwise. */
  standby(nowMs: number): NodeId | undefined {
    for (const [peerId, way] of this.#ways)
      if (way.mode === 'standby' && way.untilMs > nowMs && this.#isHeard(way)) return peerId
    return undefined
  }

  /** A new batch came, before which some neighbours announced it. */
  first(
    place: MessageRef,
    from: NodeId | undefined,
    { nowMs, isFast, isShared, announced }: Coming & { readonly announced?: Announced | undefined },
  ): readonly Ask[] {
    this.#batches++
    this.#isOwn = from === undefined
    this.#copies.first(place, from)
    const asks: Ask[] = []
    if (from !== undefined) this.#bringsFirst(from, { nowMs, isShared }, asks)
    for (const peerId of announced?.peerIds ?? []) this.said(peerId)
    if (announced !== undefined) this.#compare(announced, nowMs, asks)
    if (!isFast) return asks
    this.#renew(nowMs, asks)
    this.#appoint(nowMs, asks)
    return asks
  }

  /** A copy of a batch came that is here already. */
  again(place: MessageRef, from: NodeId, { nowMs, isFast, isShared = false }: Coming): readonly Ask[] {
    const brought = this.#copies.again(place, from)
    if (brought === undefined) return []
    const before = brought.filter((peerId) => peerId === undefined || this.modeOf(peerId, nowMs) === 'eager')
    this.said(from)
    const way = this.#wayOf(from)
    const asks: Ask[] = []
    if (this.modeOf(from, nowMs) === 'eager') {
      if (before.length === 0) this.#misses.broughtLate()
      way.late = before.length > 0 ? way.late + 1 : 0
      if (isFast && way.late >= way.patience) this.#ask(from, this.#modeOfLate(nowMs), nowMs, asks)
    } else if (isShared && way.mode === 'standby') return asks
    else if (++way.unasked >= unaskedCopies && nowMs - way.untilMs > 1_000 - this.#limits.thinLeaseMs)
      this.#ask(from, way.mode, nowMs, asks)
    return asks
  }

  /** A neighbour told that it has a batch. */
  said(peerId: NodeId): void {
    this.#wayOf(peerId).saidAt = this.#batches
  }

  /** A neighbour announced a batch and, as a standby, did not send it in time. */
  withheld(peerId: NodeId, nowMs: number): readonly Ask[] {
    const asks: Ask[] = []
    if (this.standby(nowMs) !== peerId) return asks
    const way = this.#wayOf(peerId)
    this.#ask(peerId, 'digest', nowMs, asks)
    way.saidAt = -Infinity
    this.#appoint(nowMs, asks)
    return asks
  }

  /** A neighbour is one no longer. When the chain came by it, its standby takes its place at once. */
  gone(peerId: NodeId, nowMs: number): readonly Ask[] {
    const way = this.#ways.get(peerId)
    const asks: Ask[] = []
    if (way === undefined) return asks
    const isNeeded = this.#isNeeded(way) && this.modeOf(peerId, nowMs) === 'eager'
    this.#ways.delete(peerId)
    const standby = isNeeded ? this.standby(nowMs) : undefined
    if (standby !== undefined) this.#ask(standby, 'eager', nowMs, asks)
    if (this.#ways.size > 0) this.#appoint(nowMs, asks)
    return asks
  }

  /** Forgets all but these: who brought something and was no neighbour, as feeders are not, is not told of when it goes. */
  keep(neighbours: readonly NodeId[]): void {
    for (const peerId of this.#ways.keys()) if (!neighbours.includes(peerId)) this.#ways.delete(peerId)
  }

  #bringsFirst(
    from: NodeId,
    { nowMs, isShared = false }: Pick<Coming, 'nowMs' | 'isShared'>,
    asks: Ask[],
  ): void {
    const way = this.#wayOf(from)
    way.brought(this.#batches)
    const mode = this.modeOf(from, nowMs)
    if (mode === 'eager') return this.#misses.brought()
    if (isShared && mode === 'standby' && this.#eager(nowMs).length > 0) return
    if (!this.#misses.missed() && this.#eager(nowMs).length > 0) return
    way.patience = Math.min(this.#limits.maxThinAfterLate, 2 * way.patience)
    const [late] = this.#turnTo(from, nowMs, asks)
    if (late !== undefined) this.#wayOf(late).failed()
  }

  /** One neighbour brings what another one is late with, and takes its place: more copies would make links late that are full. */
  #turnTo(peerId: NodeId, nowMs: number, asks: Ask[]): readonly NodeId[] {
    const others = this.#eager(nowMs).filter((id) => id !== peerId)
    this.#ask(peerId, 'eager', nowMs, asks)
    this.#misses.clear()
    const [late] = others
    if (late === undefined) return others
    this.#appoint(nowMs, asks)
    this.#ask(late, this.#modeOfLate(nowMs), nowMs, asks)
    return others
  }

  /** What is wanted of a neighbour that brings copies late. */
  #modeOfLate(nowMs: number): FloodMode {
    return this.#isOwn || this.standby(nowMs) !== undefined ? 'digest' : 'standby'
  }

  /** Who brings copies, and is needed for it; the one that was first longest ago comes first. */
  #eager(nowMs: number): NodeId[] {
    return [...this.#ways]
      .filter(([id, way]) => this.modeOf(id, nowMs) === 'eager' && this.#isNeeded(way))
      .sort(([, a], [, b]) => a.firstAt - b.firstAt)
      .map(([id]) => id)
  }

  /** Who announces batches long before copies come would bring them earlier itself. */
  #compare({ peerIds: [peerId], sinceMs }: Announced, nowMs: number, asks: Ask[]): void {
    if (peerId === undefined || this.modeOf(peerId, nowMs) === 'eager') return
    const isEarly = nowMs - sinceMs > this.#limits.thinGainMs
    if (this.#wayOf(peerId).announced(isEarly)) this.#turnTo(peerId, nowMs, asks)
  }

  #renew(nowMs: number, asks: Ask[]): void {
    const { thinLeaseMs, thinAfterLate } = this.#limits
    const standby = this.standby(nowMs)
    for (const [peerId, way] of this.#ways) {
      const leftMs = way.untilMs - nowMs
      if (way.mode === 'eager' || leftMs <= 0 || leftMs > thinLeaseMs / 2 || !this.#isHeard(way)) continue
      way.patience = Math.max(thinAfterLate, Math.floor(way.patience / 2))
      // One that was silent for a while has another in its place.
      this.#ask(peerId, peerId === standby ? 'standby' : 'digest', nowMs, asks)
    }
  }

  /** Makes whoever was heard last the standby, where there is none. */
  #appoint(nowMs: number, asks: Ask[]): void {
    if (this.#isOwn || this.standby(nowMs) !== undefined) return
    let next: NodeId | undefined
    let saidAt = this.#batches - silentBatches
    for (const [peerId, way] of this.#ways) {
      if (way.mode !== 'digest' || way.untilMs <= nowMs || way.saidAt <= saidAt) continue
      next = peerId
      saidAt = way.saidAt
    }
    if (next !== undefined) this.#ask(next, 'standby', nowMs, asks)
  }

  #ask(peerId: NodeId, mode: FloodMode, nowMs: number, asks: Ask[]): void {
    this.#wayOf(peerId).asked(mode, nowMs + this.#limits.thinLeaseMs)
    asks.push({ peerId, mode })
  }

  /** It brought a batch first not long ago. */
  #isNeeded({ firstAt }: Way): boolean {
    return firstAt > this.#batches - silentBatches
  }

  #isHeard({ saidAt }: Way): boolean {
    return saidAt > this.#batches - silentBatches
  }

  #wayOf(peerId: NodeId): Way {
    let way = this.#ways.get(peerId)
    if (way === undefined) this.#ways.set(peerId, (way = new Way(this.#limits.thinAfterLate)))
    return way
  }
}
