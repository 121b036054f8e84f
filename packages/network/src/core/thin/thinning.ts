import {
  compareRefs,
  keyPartition,
  placeOf,
  type Digest,
  type MessageBatch,
  type NodeId,
  type StreamPartId,
  type Thin,
  type Time,
} from '@runnel/protocol'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import { drop } from '../drop.ts'
import type { CopyWay, OverlayEffects } from '../overlay-effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import { Announcements, type AnnouncementsLimits, type AnnouncementsModules } from './announcements.ts'
import { ChainAsks, type ChainAsksModules } from './chain-asks.ts'
import type { LinkModeTally } from './link-modes.ts'
import { Onward } from './onward.ts'
import { ThinChains, type ThinChainsLimits } from './thin-chains.ts'
import { ThinLinks, type OutgoingBatch, type ThinLinksLimits, type ThinLinksModules } from './thin-links.ts'

export interface ThinningLimits extends ThinChainsLimits, ThinLinksLimits, AnnouncementsLimits {}

export interface ThinningModules
  extends ThinLinksModules, ChainAsksModules, Omit<AnnouncementsModules, 'chains' | 'ask'> {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'sendData' | 'dropped'>
  /** False in a light node. */
  readonly relays: boolean
  /** In [0, 1). */
  random(): number
}

/**
 * Floods with fewer copies: of a chain with many batches each neighbour but one is asked, once its copies have come late several
 * times, to say what it has in place of sending it. One of them, the standby, sends what this node has not said in time that it has; what does
 * not come even so is fetched. Nothing of that is believed: what a digest names is only what may be fetched.
 */
export class Thinning {
  readonly #limits: ThinningLimits
  readonly #modules: ThinningModules
  readonly #chains: ThinChains
  readonly #links: ThinLinks
  readonly #asks: ChainAsks
  readonly #announcements: Announcements
  readonly #onward: ConstructorParameters<typeof Onward>[1]
  #sweepMs = Infinity

  constructor(limits: ThinningLimits, modules: ThinningModules) {
    this.#limits = limits
    this.#modules = modules
    const chains = (this.#chains = new ThinChains(limits, () => modules.random()))
    const asks = (this.#asks = new ChainAsks(limits, modules))
    this.#links = new ThinLinks(limits, modules)
    this.#onward = { links: this.#links, counters: modules.counters }
    this.#announcements = new Announcements(limits, {
      ...{ ...modules, chains },
      ask: (chain, wanted, nowMs) => asks.send(chain, wanted, nowMs),
    })
  }

  /** When `tick` is due. */
  get dueMs(): number {
    return Math.min(this.#links.dueMs, this.#announcements.dueMs, this.#sweepMs)
  }

  /** A batch was taken. Returns what becomes of it at each neighbour; undefined where all are sent it. */
  taken(part: StreamPart, batch: MessageBatch, from: NodeId | undefined, nowMs: number): Onward | undefined {
    const progress = part.seen.find(batch.chain)
    const last = batch.messages.at(-1)
    if (!this.#modules.relays || progress === undefined || last === undefined) return undefined
    if (from !== undefined) this.#links.find(from)?.has(progress, last, nowMs, false)
    const { newest = last } = progress
    const isNewest = compareRefs(newest, last) === 0
    const pace = this.#chains.paceOf(progress)
    const isFast = isNewest ? pace.add(nowMs) : pace.isFast(nowMs)
    const chain =
      this.#chains.find(progress) ??
      (isNewest && isFast ? this.#chains.add(part, progress, batch) : undefined)
    const announced = chain && this.#announcements.came(chain, batch, nowMs)
    const holders = announced?.peerIds ?? []
    for (const peerId of holders) part.seen.shown(peerId, progress.chain, last)
    if (chain !== undefined) {
      this.#sweepBy(nowMs + this.#limits.thinLeaseMs)
      const isEager = from !== undefined && chain.ways.modeOf(from, nowMs) === 'eager'
      if (isEager && announced !== undefined) chain.lateness.add(nowMs - announced.sinceMs)
      if (isEager && isNewest && progress.wanted.length > 0) part.gaps.passed(progress)
      if (isNewest) {
        const isThin = isFast && part.gaps.fillGaps && this.#chains.isInTime(chain)
        const when = { nowMs, isFast: isThin, announced }
        this.#asks.send(chain, chain.ways.first(placeOf(last), from, when), nowMs)
        if (isEager && isThin) this.#asks.name(chain, from, nowMs)
      }
    }
    // Nobody looks for what is beside a stream, and neighbours may no longer look for what is far behind the others.
    const isMissed =
      batch.chain.partition !== keyPartition &&
      newest.timestamp - last.timestamp <= this.#limits.maxThinLateMs
    const mayLose = isFast && isMissed
    return new Onward({ batch, progress, last, chain, holders, mayLose, nowMs }, this.#onward)
  }

  /** A batch came again. */
  again(part: StreamPart, batch: MessageBatch, from: NodeId, nowMs: number): void {
    const progress = part.seen.find(batch.chain)
    const last = batch.messages.at(-1)
    if (progress === undefined || last === undefined) return
    this.#links.find(from)?.has(progress, last, nowMs, true)
    const chain = this.#chains.find(progress)
    if (chain === undefined || !part.attached.includes(from) || !this.#modules.canThin(from)) return
    const isWanted = part.gaps.fillGaps && this.#chains.isInTime(chain)
    const isFast = isWanted && this.#chains.paceOf(progress).isFast(nowMs)
    this.#asks.send(chain, chain.ways.again(last, from, { nowMs, isFast }), nowMs)
  }

  /** How late a batch of a chain may be: it is with an eager neighbour whose link stalls, or a standby is about to send it. */
  lateMs(progress: ChainProgress): number {
    const chain = this.#chains.find(progress)
    return chain?.lateness.boundMs === undefined ? 0 : this.#chains.usualMs(chain)
  }

  /** A neighbour asks for fewer copies, or for all. */
  onThin(peerId: NodeId, packet: Thin, nowMs: number): void {
    const part = this.#modules.parts.get(packet.streamPartId)
    const progress = part?.seen.find(packet)
    if (part === undefined || progress === undefined || !part.attached.includes(peerId))
      return this.#refuse(peerId)
    const { alias, mode, forMs } = packet
    const asked = { part, progress, alias, mode, untilMs: nowMs + forMs }
    if (!this.#links.ask(peerId, asked, nowMs)) this.#refuse(peerId)
    this.#sweepBy(nowMs + this.#limits.thinLeaseMs)
  }

  /** A neighbour says what it has. */
  onDigest(peerId: NodeId, { entries }: Digest, time: Time): void {
    for (const entry of entries) {
      const link = this.#links.find(peerId)
      const of = entry.isSenders ? link?.byAlias(entry.alias) : this.#chains.byAlias(entry.alias)
      if (of?.part.attached.includes(peerId) !== true) {
        this.#modules.counters['digest.ignored']++
        continue
      }
      link?.has(of.progress, entry, time.nowMs, true)
      this.#modules.parts.within(of.part, () => this.#announcements.named(of, peerId, entry, time))
    }
  }

  tick({ nowMs }: Time): void {
    this.#links.tick(nowMs)
    this.#announcements.tick(nowMs)
    if (this.#sweepMs <= nowMs) this.#sweep(nowMs)
  }

  linkClosed(peerId: NodeId): void {
    this.#links.closed(peerId)
    this.#announcements.linkClosed(peerId)
  }

  /** A peer is no neighbour in a stream part any more. */
  gone(streamPartId: StreamPartId, peerId: NodeId, nowMs: number): void {
    for (const chain of this.#chains)
      if (chain.part.id === streamPartId) this.#asks.gone(chain, peerId, nowMs)
    this.#links.sweep(nowMs, ({ part }) => part.id === streamPartId, peerId)
  }

  /** The stream part was left, or begins anew. */
  left(streamPartId: StreamPartId, nowMs: number): void {
    for (const chain of this.#chains) if (chain.part.id === streamPartId) this.#chains.forget(chain)
    this.#links.sweep(nowMs, ({ part }) => part.id === streamPartId)
  }

  /** Adds each chain to the count of those that go over a link in its mode. */
  tally(modes: LinkModeTally, nowMs: number): void {
    for (const { part, progress, ways } of this.#chains)
      modes.add(part, (peerId) => ({
        received: ways.modeOf(peerId, nowMs),
        sent: this.#links.find(peerId)?.askedOf(progress, nowMs)?.mode ?? 'eager',
      }))
  }

  /** How a batch that a neighbour has asked for goes to it. */
  wayFor(peerId: NodeId, batch: OutgoingBatch, nowMs: number): CopyWay {
    return this.#links.wayFor(peerId, this.#links.find(peerId), batch, nowMs)
  }

  /** The header of the batches that a peer sends with this alias in its place: a neighbour, or one that was when it was told the alias. */
  headerOf(peerId: NodeId, alias: number): Uint8Array | undefined {
    const chain = this.#chains.byAlias(alias)
    return chain?.part.takesFrom(peerId, chain.id.publisherId) === true ? chain.header : undefined
  }

  #sweepBy(dueMs: number): void {
    this.#sweepMs = Math.min(this.#sweepMs, dueMs)
  }

  #sweep(nowMs: number): void {
    const { thinLeaseMs } = this.#limits
    // Neighbours that were told its alias know it for a lease from when they heard of it, and what they send by it comes later still.
    for (const chain of this.#chains)
      if (nowMs - chain.progress.lastUsedMs >= 2 * thinLeaseMs) this.#chains.forget(chain)
      else chain.ways.keep(chain.part.attached)
    this.#links.sweep(nowMs)
    this.#sweepMs = this.#chains.size + this.#links.size > 0 ? nowMs + thinLeaseMs : Infinity
  }

  #refuse(peerId: NodeId): void {
    drop(this.#modules, 'thin.refused', peerId)
  }
}
