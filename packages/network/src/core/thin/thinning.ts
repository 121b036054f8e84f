import {
  compareRefs,
  digestCheck,
  limits as wireLimits,
  placeBefore,
  placeOf,
  type Digest,
  type DigestEntry,
  type MessageBatch,
  type MissingRange,
  type NodeId,
  type MessageChain,
  type StreamPartId,
  type Thin,
  type Time,
} from '@runnel/protocol'
import { Allowances } from '../allowances.ts'
import type { Counters } from '../counters.ts'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import { AnnouncedBatches } from './announced-batches.ts'
import { ChainWays, type Ask, type ChainWaysLimits } from './chain-ways.ts'
import { Lateness } from './lateness.ts'
import { Pace } from './pace.ts'
import { chainIdOf, ThinLink, type Asked, type ThinLinkLimits, type UnsureBatch } from './thin-link.ts'

export interface ThinningLimits extends ChainWaysLimits, ThinLinkLimits {
  readonly thinFromPerS: number
  readonly maxThinChains: number
  readonly maxAnnounced: number
  readonly maxThinLateMs: number
  readonly maxDoubtsPerS: number
  readonly maxPushesPerS: number
  readonly maxPushQueueBytes: number
  readonly clockToleranceMs: number
}

export interface ThinningModules {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'sendData' | 'dropped'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly self: NodeId
  /** False in a light node. */
  readonly relays: boolean
  /** Whether a neighbour knows what this asks for. */
  canThin(peerId: NodeId): boolean
  rttOf(peerId: NodeId): number | undefined
  /** Bytes that wait for the link, or are under way in it. */
  queuedBytes(peerId: NodeId): number
  /** Fetches ranges of a chain from a neighbour. */
  fetch(peerId: NodeId, chain: MessageChain, ranges: readonly MissingRange[], nowMs: number): void
}

/** What this node does about the ways of one chain. */
interface ThinChain {
  readonly part: StreamPart
  readonly progress: ChainProgress
  readonly ways: ChainWays
  readonly announced: AnnouncedBatches
  /** How long after it was announced a batch comes. */
  readonly lateness: Lateness
  /** Names it in digests. */
  readonly alias: number
}

/** Until it is known how late batches come after they were announced. */
const unknownLatenessMs = 100
/** What a standby may take besides a round trip and a half. */
const pushRoomMs = 50

/**
 * Floods with fewer copies: of a chain with many batches each neighbour but one is asked, once its copies have come late several
 * times, to say what it has in place of sending it. One of them, the standby, sends what this node has not said in time that it has; what does
 * not come even so is fetched. Nothing of that is believed: what a digest names is only what may be fetched.
 */
export class Thinning {
  readonly #limits: ThinningLimits
  readonly #modules: ThinningModules
  readonly #paces = new WeakMap<ChainProgress, Pace>()
  readonly #chains = new Map<ChainProgress, ThinChain>()
  readonly #byAlias = new Map<number, ThinChain>()
  readonly #links = new Map<NodeId, ThinLink>()
  readonly #doubts: Allowances
  readonly #pushes: Allowances
  #lastAlias = 0
  #sweepMs = Infinity
  /** A lower bound. */
  #dueMs = Infinity

  constructor(limits: ThinningLimits, modules: ThinningModules) {
    this.#limits = limits
    this.#modules = modules
    this.#doubts = new Allowances(limits.maxDoubtsPerS)
    this.#pushes = new Allowances(limits.maxPushesPerS)
  }

  /** When `tick` is due. */
  get dueMs(): number {
    return Math.min(this.#dueMs, this.#sweepMs)
  }

  /** A batch was taken. Returns who is known to have it besides the one that brought it. */
  taken(part: StreamPart, batch: MessageBatch, from: NodeId | undefined, nowMs: number): readonly NodeId[] {
    const progress = part.seen.find(batch.chain)
    const last = batch.messages.at(-1)
    if (!this.#modules.relays || progress === undefined || last === undefined) return []
    if (from !== undefined) this.#links.get(from)?.has(progress, last, nowMs, false)
    const isNewest = progress.newest !== undefined && compareRefs(progress.newest, last) === 0
    const isFast = isNewest && this.#paceOf(progress).add(nowMs)
    const chain = this.#chains.get(progress) ?? (isFast ? this.#add(part, progress, nowMs) : undefined)
    if (chain === undefined) return []
    const announced = chain.announced.take(last)
    const holders = announced?.peerIds ?? []
    for (const peerId of holders) part.seen.shown(peerId, progress.chain, last)
    if (announced !== undefined && from !== undefined && chain.ways.modeOf(from, nowMs) === 'eager')
      chain.lateness.add(nowMs - announced.sinceMs)
    const isThin = isFast && this.#isInTime(chain)
    if (isNewest)
      this.#askAll(chain, chain.ways.first(placeOf(last), from, { nowMs, isFast: isThin, announced }))
    return holders
  }

  /** A batch came again. */
  again(part: StreamPart, batch: MessageBatch, from: NodeId, nowMs: number): void {
    const progress = part.seen.find(batch.chain)
    const last = batch.messages.at(-1)
    if (progress === undefined || last === undefined) return
    this.#links.get(from)?.has(progress, last, nowMs, true)
    const chain = this.#chains.get(progress)
    if (chain === undefined || !part.attached.includes(from) || !this.#modules.canThin(from)) return
    const isFast = part.gaps.fillGaps && this.#isInTime(chain) && this.#paceOf(progress).isFast(nowMs)
    this.#askAll(chain, chain.ways.again(last, from, { nowMs, isFast }))
  }

  /** Whether a neighbour is not sent a batch that was taken: it is known to have it, or is told of it. */
  spares(
    part: StreamPart,
    peerId: NodeId,
    batch: MessageBatch,
    { holders, nowMs }: { readonly holders: readonly NodeId[]; readonly nowMs: number },
  ): boolean {
    const isHolder = holders.includes(peerId)
    const link = this.#links.get(peerId)
    if (link === undefined && !isHolder) return false
    const progress = part.seen.find(batch.chain)
    const last = batch.messages.at(-1)
    if (progress === undefined || last === undefined) return false
    const asked = link?.askedOf(progress, nowMs)
    if (asked === undefined && !isHolder) {
      // In the frame of the copy a digest costs no packet.
      if (link !== undefined) this.#sendDigest(peerId, link, nowMs)
      return false
    }
    this.#modules.counters['thin.spared']++
    const chain = this.#chains.get(progress)
    const isStandby = chain?.ways.standby(nowMs) === peerId
    // It has what it announced, and waits for nothing.
    if (isHolder && !isStandby) return true
    const alias = asked?.alias ?? chain?.alias
    if (alias === undefined) return true
    const place = placeOf(last)
    this.#tell(
      peerId,
      { ...place, alias, isSenders: asked === undefined, check: digestCheck(batch.bytes, peerId) },
      nowMs,
    )
    if (!isHolder && asked?.mode === 'standby' && link !== undefined) {
      if (!link.unsure(asked, place, nowMs)) this.#modules.counters['thin.dropped']++
      this.#dueMs = Math.min(this.#dueMs, link.dueMs)
    }
    return true
  }

  /** A neighbour asks for fewer copies, or for all. */
  onThin(peerId: NodeId, packet: Thin, nowMs: number): void {
    const part = this.#modules.parts.get(packet.streamPartId)
    const progress = part?.seen.find(packet)
    if (part === undefined || progress === undefined || !part.attached.includes(peerId))
      return this.#refuse(peerId)
    const { alias, mode, forMs } = packet
    const link = this.#linkOf(peerId)
    const before = link.askedOf(progress, nowMs)
    if (!link.ask({ part, progress, alias, mode, untilMs: nowMs + forMs })) this.#refuse(peerId)
    if (mode === 'eager' && before !== undefined) link.hurry(before, nowMs)
    this.#dueMs = Math.min(this.#dueMs, link.dueMs)
    this.#sweepMs = Math.min(this.#sweepMs, nowMs + this.#limits.thinLeaseMs)
  }

  /** A neighbour says what it has. */
  onDigest(peerId: NodeId, { entries }: Digest, time: Time): void {
    for (const entry of entries) {
      const of = entry.isSenders
        ? this.#links.get(peerId)?.byAlias(entry.alias)
        : this.#byAlias.get(entry.alias)
      if (of?.part.attached.includes(peerId) !== true) this.#modules.counters['digest.ignored']++
      else this.#modules.parts.within(of.part, () => this.#named(of, peerId, entry, time))
    }
  }

  tick(time: Time): void {
    const { nowMs } = time
    if (this.#dueMs <= nowMs) {
      this.#dueMs = Infinity
      for (const [peerId, link] of this.#links) {
        this.#sendDigest(peerId, link, nowMs, link.tellMs <= nowMs)
        for (const batch of link.takeUnsure(nowMs))
          this.#modules.parts.within(batch.asked.part, () => this.#push(peerId, link, batch, nowMs))
        this.#dueMs = Math.min(this.#dueMs, link.dueMs)
      }
      for (const chain of this.#chains.values()) {
        this.#modules.parts.within(chain.part, () => this.#pull(chain, nowMs))
        this.#dueMs = Math.min(this.#dueMs, chain.announced.dueMs)
      }
    }
    if (this.#sweepMs <= nowMs) this.#sweep(nowMs)
  }

  linkClosed(peerId: NodeId): void {
    this.#links.delete(peerId)
    this.#doubts.linkClosed(peerId)
    this.#pushes.linkClosed(peerId)
  }

  /** A peer is no neighbour in a stream part any more. */
  gone(streamPartId: StreamPartId, peerId: NodeId, nowMs: number): void {
    for (const chain of this.#chains.values()) {
      if (chain.part.id !== streamPartId) continue
      chain.announced.gone(peerId)
      this.#askAll(chain, chain.ways.gone(peerId, nowMs))
    }
    this.#links.get(peerId)?.sweep(nowMs, ({ part }) => part.id === streamPartId)
  }

  /** The stream part was left, or begins anew. */
  left(streamPartId: StreamPartId, nowMs: number): void {
    for (const chain of this.#chains.values()) if (chain.part.id === streamPartId) this.#forget(chain)
    for (const link of this.#links.values()) link.sweep(nowMs, ({ part }) => part.id === streamPartId)
  }

  #add(part: StreamPart, progress: ChainProgress, nowMs: number): ThinChain | undefined {
    if (!part.gaps.fillGaps || this.#chains.size >= this.#limits.maxThinChains) return undefined
    const alias = (this.#lastAlias = (this.#lastAlias + 1) >>> 0)
    const chain: ThinChain = {
      ...{ part, progress, alias, lateness: new Lateness() },
      ways: new ChainWays(this.#limits, part),
      announced: new AnnouncedBatches(this.#limits.maxAnnounced),
    }
    this.#chains.set(progress, chain)
    this.#byAlias.set(alias, chain)
    this.#sweepMs = Math.min(this.#sweepMs, nowMs + this.#limits.thinLeaseMs)
    return chain
  }

  #forget({ progress, alias }: ThinChain): void {
    this.#chains.delete(progress)
    this.#byAlias.delete(alias)
  }

  #paceOf(progress: ChainProgress): Pace {
    let pace = this.#paces.get(progress)
    if (pace === undefined) this.#paces.set(progress, (pace = new Pace(this.#limits.thinFromPerS)))
    return pace
  }

  /** One that has not got the capability sends copies, whatever it is asked. */
  #askAll({ part, progress, alias }: ThinChain, asks: readonly Ask[]): void {
    const { counters, effects } = this.#modules
    for (const { peerId, mode } of asks) {
      if (!part.attached.includes(peerId) || !this.#modules.canThin(peerId)) continue
      counters[mode === 'eager' ? 'thin.grafted' : 'thin.asked']++
      const forMs = Math.min(wireLimits.maxThinMs, this.#limits.thinLeaseMs)
      const packet = { streamPartId: part.id, ...chainIdOf(progress.chain), alias, mode, forMs }
      effects.sendControl(peerId, { type: 'thin', ...packet })
    }
  }

  #tell(peerId: NodeId, entry: DigestEntry, nowMs: number): void {
    const link = this.#linkOf(peerId)
    link.tell(entry, nowMs)
    this.#dueMs = Math.min(this.#dueMs, link.dueMs)
  }

  #sendDigest(peerId: NodeId, link: ThinLink, nowMs: number, isDue = true): void {
    const entries = link.takeEntries(nowMs, wireLimits.maxDigestEntries, isDue)
    if (entries.length === 0) return
    this.#modules.counters['digest.sent']++
    this.#modules.effects.sendControl(peerId, { type: 'digest', entries })
  }

  /** A neighbour says that it has a batch. */
  #named({ part, progress }: ThinChain | Asked, peerId: NodeId, entry: DigestEntry, time: Time): void {
    const { nowMs } = time
    this.#links.get(peerId)?.has(progress, entry, nowMs, true)
    const chain = this.#chains.get(progress)
    if (!progress.isNew(entry)) {
      part.seen.shown(peerId, progress.chain, entry)
      chain?.ways.said(peerId)
      this.#compare(part, progress, peerId, entry, nowMs)
    } else if (chain !== undefined && entry.timestamp <= time.wallMs + this.#limits.clockToleranceMs) {
      const dueMs = nowMs + this.#pullWaitMs(chain, nowMs)
      if (!chain.announced.add(placeOf(entry), peerId, { nowMs, dueMs }))
        this.#modules.counters['thin.dropped']++
      this.#dueMs = Math.min(this.#dueMs, dueMs)
    }
  }

  /** Fetches a batch that its publisher signed for a place of another one: both are then shown to all (`Equivocations`). */
  #compare(
    part: StreamPart,
    progress: ChainProgress,
    peerId: NodeId,
    entry: DigestEntry,
    nowMs: number,
  ): void {
    const kept = part.recent.at(progress.chain, entry)
    if (kept === undefined || kept.isContradicted) return
    const { self, counters } = this.#modules
    if (compareRefs(kept.last, entry) === 0 && digestCheck(kept.packet, self) === entry.check) return
    if (!this.#doubts.take(peerId, nowMs)) return
    counters['thin.doubts']++
    this.#modules.fetch(peerId, progress.chain, [{ after: placeBefore(entry), upTo: placeOf(entry) }], nowMs)
  }

  /** How late a batch of a chain may be: it is with an eager neighbour whose link stalls, or a standby is about to send it. */
  lateMs(progress: ChainProgress): number {
    const chain = this.#chains.get(progress)
    return chain?.lateness.boundMs === undefined ? 0 : this.#usualMs(chain)
  }

  /** Where links are so full that batches come long after they were announced, only a full flood finds every way there is. */
  #isInTime({ lateness }: ThinChain): boolean {
    return (lateness.boundMs ?? 0) <= this.#limits.maxThinLateMs
  }

  #usualMs({ lateness }: ThinChain): number {
    const { minPushWaitMs, maxPushWaitMs } = this.#limits
    return Math.ceil(Math.min(maxPushWaitMs, Math.max(minPushWaitMs, lateness.boundMs ?? unknownLatenessMs)))
  }

  /** How long after its announcement a batch is fetched: what is eager may bring it, or the standby. */
  #pullWaitMs(chain: ThinChain, nowMs: number): number {
    const standby = chain.ways.standby(nowMs)
    const pushMs = standby === undefined ? 0 : 1.5 * (this.#modules.rttOf(standby) ?? 0) + pushRoomMs
    return Math.ceil(2 * (this.#usualMs(chain) + pushMs))
  }

  #push(peerId: NodeId, link: ThinLink, batch: UnsureBatch, nowMs: number): void {
    const { part, progress } = batch.asked
    if (
      this.#modules.queuedBytes(peerId) > this.#limits.maxPushQueueBytes ||
      !(batch.isHurried || this.#pushes.take(peerId, nowMs))
    )
      return link.postpone(batch, nowMs)
    const kept = part.recent.at(progress.chain, batch.place)
    if (kept === undefined || !part.attached.includes(peerId)) return
    this.#modules.counters['thin.pushed']++
    this.#modules.effects.sendData(peerId, kept.packet, kept.delegationRef)
  }

  #pull(chain: ThinChain, nowMs: number): void {
    const { part, progress, announced, ways } = chain
    for (const batch of announced.due(nowMs)) {
      batch.dueMs = Infinity
      if (!progress.isNew(batch.place)) {
        announced.take(batch.place)
        continue
      }
      this.#modules.counters['thin.pulled']++
      const standby = ways.standby(nowMs)
      if (standby !== undefined && batch.peerIds.includes(standby))
        this.#askAll(chain, ways.withheld(standby, nowMs))
      for (const peerId of batch.peerIds) {
        const head = { ...chainIdOf(progress.chain), ...batch.place }
        if (!part.gaps.claims.add(peerId, head, nowMs)) this.#modules.counters['heads.dropped']++
      }
    }
  }

  #sweep(nowMs: number): void {
    const { thinLeaseMs } = this.#limits
    for (const chain of this.#chains.values())
      if (nowMs - chain.progress.lastUsedMs >= thinLeaseMs) this.#forget(chain)
    for (const [peerId, link] of this.#links) {
      link.sweep(nowMs, () => false)
      if (link.isEmpty) this.#links.delete(peerId)
    }
    this.#sweepMs = this.#chains.size + this.#links.size > 0 ? nowMs + thinLeaseMs : Infinity
  }

  #refuse(peerId: NodeId): void {
    this.#modules.counters['thin.refused']++
    this.#modules.effects.dropped('thin.refused', peerId)
  }

  #linkOf(peerId: NodeId): ThinLink {
    let link = this.#links.get(peerId)
    if (link === undefined) this.#links.set(peerId, (link = new ThinLink(this.#limits)))
    return link
  }
}
