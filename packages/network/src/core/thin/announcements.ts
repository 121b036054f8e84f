import {
  compareRefs,
  digestCheck,
  placeBefore,
  placeOf,
  type DigestEntry,
  type MessageBatch,
  type MessageRef,
  type NodeId,
  type Time,
} from '@runnel/protocol'
import { Allowances } from '../allowances.ts'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { Counters } from '../counters.ts'
import type { Fetches } from '../gaps/fetches.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import type { Announced } from './announced-batches.ts'
import type { Ask } from './chain-ways.ts'
import type { ThinChain, ThinChains } from './thin-chains.ts'
import { chainIdOf, type Asked } from './asked.ts'

export interface AnnouncementsLimits {
  readonly maxDoubtsPerS: number
  readonly clockToleranceMs: number
}

export interface AnnouncementsModules {
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly chains: ThinChains
  readonly self: NodeId
  rttOf(peerId: NodeId): number | undefined
  readonly fetches: Pick<Fetches, 'once'>
  ask(chain: ThinChain, asks: readonly Ask[], nowMs: number): void
}

/** Time that a standby may take beyond one and a half round trips. */
const pushRoomMs = 50

/** What neighbours say that they have: compared with what is here, and fetched when nobody brings it. Nothing of it is believed. */
export class Announcements {
  readonly #limits: AnnouncementsLimits
  readonly #modules: AnnouncementsModules
  readonly #doubts: Allowances
  /** A lower bound. */
  #dueMs = Infinity

  constructor(limits: AnnouncementsLimits, modules: AnnouncementsModules) {
    this.#limits = limits
    this.#modules = modules
    this.#doubts = new Allowances(limits.maxDoubtsPerS)
  }

  get dueMs(): number {
    return this.#dueMs
  }

  /** A neighbour says that it has a batch. */
  named({ part, progress }: ThinChain | Asked, peerId: NodeId, entry: DigestEntry, time: Time): void {
    const { nowMs } = time
    const chain = this.#modules.chains.find(progress)
    if (!progress.isNew(entry)) {
      part.seen.shown(peerId, progress.chain, entry)
      chain?.ways.said(peerId)
      this.#compare({ part, progress }, peerId, entry, nowMs)
    } else if (chain !== undefined && entry.timestamp <= time.wallMs + this.#limits.clockToleranceMs) {
      const dueMs = nowMs + this.#pullWaitMs(chain, nowMs)
      if (!chain.announced.add(placeOf(entry), { peerId, check: entry.check }, { nowMs, dueMs }))
        this.#modules.counters['thin.dropped']++
      this.#dueMs = Math.min(this.#dueMs, dueMs)
    }
  }

  /** A batch came. Returns what was said of it before by those who have it. */
  came({ progress, announced }: ThinChain, batch: MessageBatch, nowMs: number): Announced | undefined {
    const last = batch.messages.at(-1)
    if (last === undefined) return undefined
    const said = announced.take(last, () => digestCheck(batch.bytes, this.#modules.self))
    for (const peerId of said.others) this.#doubt(progress, peerId, last, nowMs)
    return said.announced
  }

  tick(nowMs: number): void {
    if (this.#dueMs > nowMs) return
    this.#dueMs = Infinity
    for (const chain of this.#modules.chains) {
      this.#modules.parts.within(chain.part, () => this.#pull(chain, nowMs))
      this.#dueMs = Math.min(this.#dueMs, chain.announced.dueMs)
    }
  }

  linkClosed(peerId: NodeId): void {
    this.#doubts.linkClosed(peerId)
  }

  /** Fetches a batch that its publisher signed for a place of another one: both are then shown to all (`Equivocations`). */
  #compare(
    { part, progress }: Pick<ThinChain, 'part' | 'progress'>,
    peerId: NodeId,
    entry: DigestEntry,
    nowMs: number,
  ): void {
    const kept = part.recent.at(progress.chain, entry)
    if (kept === undefined || kept.isContradicted) return
    const { self } = this.#modules
    if (compareRefs(kept.last, entry) === 0 && digestCheck(kept.packet, self) === entry.check) return
    this.#doubt(progress, peerId, entry, nowMs)
  }

  #doubt({ chain }: ChainProgress, peerId: NodeId, place: MessageRef, nowMs: number): void {
    if (!this.#doubts.take(peerId, nowMs)) return
    this.#modules.counters['thin.doubts']++
    this.#modules.fetches.once(peerId, chain, [{ after: placeBefore(place), upTo: placeOf(place) }], nowMs)
  }

  /** How long after its announcement a batch is fetched: what is eager may bring it, or the standby. */
  #pullWaitMs(chain: ThinChain, nowMs: number): number {
    const standby = chain.ways.standby(nowMs)
    const pushMs = standby === undefined ? 0 : 1.5 * (this.#modules.rttOf(standby) ?? 0) + pushRoomMs
    return Math.ceil(2 * (this.#modules.chains.usualMs(chain) + pushMs))
  }

  #pull(chain: ThinChain, nowMs: number): void {
    const { part, progress, announced, ways } = chain
    for (const batch of announced.due(nowMs)) {
      if (!progress.isNew(batch.place)) {
        announced.forget(batch.place)
        continue
      }
      this.#modules.counters['thin.pulled']++
      const standby = ways.standby(nowMs)
      if (standby !== undefined && batch.peerIds.includes(standby))
        this.#modules.ask(chain, ways.withheld(standby, nowMs), nowMs)
      for (const peerId of batch.peerIds) {
        const head = { ...chainIdOf(progress.chain), ...batch.place }
        if (!part.gaps.claims.add(peerId, head, nowMs)) this.#modules.counters['heads.dropped']++
      }
    }
  }
}
