import type { FloodMode, MessageRef, NodeId } from '@runnel/protocol'
import type { AnnouncedBatch } from './announced-batches.ts'

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

/** What one neighbour does for a chain, and what it was asked for. */
interface Way {
  mode: FloodMode
  /** When that ends unless it is asked again. */
  untilMs: number
  /** Copies in a row that came when another neighbour had brought one. */
  late: number
  /** So many of these, and it is asked for digests: more each time that it was needed all the same. */
  patience: number
  /** Copies that came although they were not asked for, since the last ask. */
  unasked: number
  /** Batches in a row that it announced long before a copy came. */
  early: number
  /** Number of the last batch that it brought first, and that it brought or announced. */
  firstAt: number
  saidAt: number
}

/** Batches whose copies are counted when they come. */
const countedBatches = 32
/** A neighbour that has said nothing of so many batches gets them from here, or not at all. */
const silentBatches = 16
/** Batches in a row that others bring first, after which one of them takes the place of the eager one: links lose a single one now and then. */
const missedBatches = 2
/** Batches in a row that must be announced early, and copies that come unasked. */
const earlyBatches = 8
const unaskedCopies = 8

const keyOf = ({ timestamp, sequenceNumber }: MessageRef): string => `${timestamp}.${sequenceNumber}`

/**
 * By which neighbours the batches of one chain come. Who brings them first goes on; who brings copies late,
 * several times in a row, is asked for digests, the first one as a standby. Who brings in spite of that what nobody else has is
 * asked for copies again at once. An ask ends by itself, so that nothing has to be undone when a chain pauses, or an ask is lost.
 */
export class ChainWays {
  readonly #limits: ChainWaysLimits
  readonly #ways = new Map<NodeId, Way>()
  /** Of the last batches: who brought them, in order; undefined is this process. */
  readonly #brought = new Map<string, (NodeId | undefined)[]>()
  #batches = 0
  /** Batches in a row that came first by a neighbour that is not eager. */
  #missed = 0

  constructor(limits: ChainWaysLimits) {
    this.#limits = limits
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

  /** A new batch came, before which some neighbours announced it. `isFast`: the chain is worth asking. */
  first(
    place: MessageRef,
    from: NodeId | undefined,
    { nowMs, isFast, announced }: { nowMs: number; isFast: boolean; announced?: AnnouncedBatch | undefined },
  ): readonly Ask[] {
    this.#batches++
    this.#count(place, from)
    const asks: Ask[] = []
    if (from !== undefined) this.#bringsFirst(from, nowMs, asks)
    for (const peerId of announced?.peerIds ?? []) this.said(peerId)
    if (announced !== undefined) this.#compare(announced, nowMs, asks)
    if (!isFast) return asks
    this.#renew(nowMs, asks)
    this.#appoint(nowMs, asks)
    return asks
  }

  /** A copy of a batch came that is here already. */
  again(
    place: MessageRef,
    from: NodeId,
    { nowMs, isFast }: { nowMs: number; isFast: boolean },
  ): readonly Ask[] {
    const brought = this.#brought.get(keyOf(place))
    if (brought === undefined || brought.includes(from)) return []
    const before = brought.filter((peerId) => peerId === undefined || this.modeOf(peerId, nowMs) === 'eager')
    brought.push(from)
    this.said(from)
    const way = this.#wayOf(from)
    const asks: Ask[] = []
    if (this.modeOf(from, nowMs) === 'eager') {
      way.late = before.length > 0 ? way.late + 1 : 0
      if (isFast && way.late >= way.patience)
        this.#ask(from, this.standby(nowMs) === undefined ? 'standby' : 'digest', nowMs, asks)
    } else if (++way.unasked >= unaskedCopies && nowMs - way.untilMs > 1_000 - this.#limits.thinLeaseMs)
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

  #count(place: MessageRef, from: NodeId | undefined): void {
    this.#brought.set(keyOf(place), [from])
    if (this.#brought.size <= countedBatches) return
    for (const oldest of this.#brought.keys()) return void this.#brought.delete(oldest)
  }

  #bringsFirst(from: NodeId, nowMs: number, asks: Ask[]): void {
    const way = this.#wayOf(from)
    way.late = 0
    way.firstAt = way.saidAt = this.#batches
    if (this.modeOf(from, nowMs) === 'eager') {
      this.#missed = 0
      return
    }
    if (++this.#missed < missedBatches && this.#eager(nowMs).length > 0) return
    way.patience = Math.min(this.#limits.maxThinAfterLate, 2 * way.patience)
    this.#turnTo(from, nowMs, asks)
  }

  /** One neighbour brings what another one is late with, and takes its place: more copies would make links late that are full. */
  #turnTo(peerId: NodeId, nowMs: number, asks: Ask[]): void {
    const [late] = this.#eager(nowMs).filter((id) => id !== peerId)
    this.#ask(peerId, 'eager', nowMs, asks)
    this.#missed = 0
    if (late === undefined) return
    this.#appoint(nowMs, asks)
    this.#ask(late, this.standby(nowMs) === undefined ? 'standby' : 'digest', nowMs, asks)
  }

  /** Who brings copies, and is needed for it; the one that was first longest ago comes first. */
  #eager(nowMs: number): NodeId[] {
    return [...this.#ways]
      .filter(([id, way]) => this.modeOf(id, nowMs) === 'eager' && this.#isNeeded(way))
      .sort(([, a], [, b]) => a.firstAt - b.firstAt)
      .map(([id]) => id)
  }

  /** Who announces batches long before copies come would bring them earlier itself. */
  #compare({ peerIds: [peerId], sinceMs }: AnnouncedBatch, nowMs: number, asks: Ask[]): void {
    if (peerId === undefined || this.modeOf(peerId, nowMs) === 'eager') return
    const way = this.#wayOf(peerId)
    way.early = nowMs - sinceMs > this.#limits.thinGainMs ? way.early + 1 : 0
    if (way.early >= earlyBatches) this.#turnTo(peerId, nowMs, asks)
  }

  #renew(nowMs: number, asks: Ask[]): void {
    const { thinLeaseMs, thinAfterLate } = this.#limits
    for (const [peerId, way] of this.#ways) {
      const leftMs = way.untilMs - nowMs
      if (way.mode === 'eager' || leftMs <= 0 || leftMs > thinLeaseMs / 2 || !this.#isHeard(way)) continue
      way.patience = Math.max(thinAfterLate, Math.floor(way.patience / 2))
      this.#ask(peerId, way.mode, nowMs, asks)
    }
  }

  /** Makes whoever was heard last the standby, where there is none. */
  #appoint(nowMs: number, asks: Ask[]): void {
    if (this.standby(nowMs) !== undefined) return
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
    const way = this.#wayOf(peerId)
    const untilMs = nowMs + this.#limits.thinLeaseMs
    Object.assign(way, { mode, untilMs, late: 0, unasked: 0, early: 0 })
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
    if (way === undefined) {
      way = {
        ...{ mode: 'eager', untilMs: -Infinity, late: 0, patience: this.#limits.thinAfterLate },
        ...{ unasked: 0, early: 0, firstAt: -Infinity, saidAt: -Infinity },
      }
      this.#ways.set(peerId, way)
    }
    return way
  }
}
