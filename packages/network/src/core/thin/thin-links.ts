import { limits as wireLimits, RareMap, type DigestEntry, type NodeId } from '@runnel/protocol'
import { Allowances } from '../allowances.ts'
import type { Counters } from '../counters.ts'
import type { CopyWay, OverlayEffects } from '../overlay-effects.ts'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import type { Asked } from './asked.ts'
import { ThinLink, type ThinLinkLimits } from './thin-link.ts'
import type { UnsureBatch } from './unsure-batches.ts'

export interface ThinLinksLimits extends ThinLinkLimits {
  readonly maxPushesPerS: number
  readonly maxPushQueueBytes: number
}

export interface ThinLinksModules {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'sendData'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  /** Bytes that wait for the link, or are under way in it. */
  queuedBytes(peerId: NodeId): number
  /** Whether a neighbour knows batches whose header is an alias. */
  canShorten(peerId: NodeId): boolean
}

/** A batch that is about to be sent. */
export interface OutgoingBatch {
  readonly progress: ChainProgress
  /** Length of its header, which says its chain. */
  readonly batchHeaderBytes: number
  readonly mayLose: boolean
}

/** The neighbours at whose wish less is flooded to them: sends their digests, and what they lack of the chains for which this node is their standby. */
export class ThinLinks {
  readonly #limits: ThinLinksLimits
  readonly #modules: ThinLinksModules
  readonly #links = new RareMap<NodeId, ThinLink>()
  readonly #pushes: Allowances
  /** A lower bound. */
  #dueMs = Infinity

  constructor(limits: ThinLinksLimits, modules: ThinLinksModules) {
    this.#limits = limits
    this.#modules = modules
    this.#pushes = new Allowances(limits.maxPushesPerS)
  }

  get size(): number {
    return this.#links.size
  }

  get dueMs(): number {
    return this.#dueMs
  }

  find(peerId: NodeId): ThinLink | undefined {
    return this.#links.get(peerId)
  }

  /** A neighbour asks for fewer copies, or for all. False when it asked too much. */
  ask(peerId: NodeId, asked: Omit<Asked, 'lateness'>, nowMs: number): boolean {
    const link = this.#linkOf(peerId)
    const before = link.askedOf(asked.progress, nowMs)
    const isTaken = link.ask(asked)
    if (asked.mode === 'eager' && before !== undefined) link.unsure.hurry(before, nowMs)
    this.#isDue(link)
    return isTaken
  }

  /** Adds to the next digest for a neighbour. */
  tell(peerId: NodeId, entry: DigestEntry, nowMs: number): void {
    const link = this.#linkOf(peerId)
    link.digest.add(entry, nowMs)
    this.#isDue(link)
  }

  /** How a batch goes to a neighbour: with the neighbour's alias for the chain in place of its header, where it has given one. */
  wayFor(
    peerId: NodeId,
    link: ThinLink | undefined,
    { progress, batchHeaderBytes, mayLose }: OutgoingBatch,
    nowMs: number,
  ): CopyWay {
    const alias = link?.aliasOf(progress, nowMs)
    if (alias === undefined || !this.#modules.canShorten(peerId)) return { mayLose }
    return { mayLose, short: { alias, headerBytes: batchHeaderBytes } }
  }

  /** A neighbour may lack a batch that it was told of. */
  unsure(link: ThinLink, asked: Asked, place: UnsureBatch['place'], nowMs: number): void {
    if (!link.unsure.add(asked, place, nowMs)) this.#modules.counters['thin.dropped']++
    this.#isDue(link)
  }

  /** Sends what is to be told: in the frame of another packet, a digest costs none. */
  sendDigest(peerId: NodeId, link: ThinLink, nowMs: number): void {
    const entries = link.digest.take(nowMs, wireLimits.maxDigestEntries)
    if (entries.length === 0) return
    this.#modules.counters['digest.sent']++
    this.#modules.effects.sendControl(peerId, { type: 'digest', entries }, true)
  }

  tick(nowMs: number): void {
    if (this.#dueMs > nowMs) return
    this.#dueMs = Infinity
    for (const [peerId, link] of this.#links) {
      if (link.digest.dueMs <= nowMs) this.sendDigest(peerId, link, nowMs)
      for (const batch of link.unsure.take(nowMs))
        this.#modules.parts.within(batch.asked.part, () => this.#push(peerId, link, batch, nowMs))
      this.#isDue(link)
    }
  }

  closed(peerId: NodeId): void {
    this.#links.delete(peerId)
    this.#pushes.linkClosed(peerId)
  }

  /** Forgets what has ended, or what `isGone` is true of, of one neighbour or all. */
  sweep(nowMs: number, isGone: (asked: Asked) => boolean = () => false, peerId?: NodeId): void {
    for (const [id, link] of this.#links) {
      if (peerId !== undefined && id !== peerId) continue
      link.sweep(nowMs, isGone)
      if (link.isEmpty) this.#links.delete(id)
    }
  }

  #push(peerId: NodeId, link: ThinLink, batch: UnsureBatch, nowMs: number): void {
    const { part, progress } = batch.asked
    if (
      this.#modules.queuedBytes(peerId) > this.#limits.maxPushQueueBytes ||
      !(batch.isHurried || this.#pushes.take(peerId, nowMs))
    )
      return link.unsure.postpone(batch, nowMs)
    const kept = part.recent.at(progress.chain, batch.place)
    if (kept === undefined || !part.attached.includes(peerId)) return
    this.#modules.counters['thin.pushed']++
    const { packet, delegationRef, batchHeaderBytes } = kept
    // Late it is worth nothing: what does not come in time is fetched.
    const way = this.wayFor(peerId, link, { progress, batchHeaderBytes, mayLose: true }, nowMs)
    this.#modules.effects.sendData(peerId, packet, delegationRef, way)
  }

  #isDue(link: ThinLink): void {
    this.#dueMs = Math.min(this.#dueMs, link.dueMs)
  }

  #linkOf(peerId: NodeId): ThinLink {
    let link = this.#links.get(peerId)
    if (link === undefined) this.#links.set(peerId, (link = new ThinLink(this.#limits)))
    return link
  }
}
