import { Shares, RareMap, type MessageChain, type MissingRange } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { ChainProgress, OpenRange, RangeWatch } from '../dedup/chain-progress.ts'
import { HeadClaims } from './head-claims.ts'
import { HeadsInTurn } from './heads-in-turn.ts'
import { HeadsSchedule, type HeadsScheduleLimits } from './heads-schedule.ts'

export interface PartGapsLimits extends HeadsScheduleLimits {
  readonly maxHeadClaims: number
  readonly maxMissingRanges: number
  readonly maxLateAgeMs: number
  readonly maxRangesInWork: number
}

export interface PartGapsModules {
  readonly counters: Counters
  /** How long another path may take to bring what is missing. */
  waitMs(): number
  /** How much longer that may be where batches of a chain come by few paths. */
  lateMs(progress: ChainProgress): number
  /** A range is looked for no longer, or never was, or was forgotten before it was filled. */
  onLost(chain: MessageChain, range: MissingRange): void
}

/**
 * The missing ranges of one stream part, and when each is due. Their number is bounded; when it is full, the publisher with the
 * most loses its oldest.
 */
export class PartGaps implements RangeWatch {
  /** False: missing messages are waited for, but not fetched. */
  fillGaps = true
  /** Chains with ranges that are looked for, and a lower bound on when the next step for one of them is due. */
  readonly chains = new RareMap<ChainProgress, number>()
  readonly claims: HeadClaims
  readonly heads: HeadsSchedule
  readonly headsInTurn = new HeadsInTurn()
  /** A lower bound on when the next step of any chain is due. */
  rangesDueMs = Infinity
  readonly #maxLateAgeMs: number
  readonly #maxRangesInWork: number
  readonly #modules: PartGapsModules
  readonly #ranges: Shares<OpenRange>
  /** Ranges that nobody looks for any more, in the order in which they were given up, and until when they are kept. */
  readonly #late = new RareMap<OpenRange, number>()

  constructor(limits: PartGapsLimits, modules: PartGapsModules) {
    this.#maxLateAgeMs = limits.maxLateAgeMs
    this.#maxRangesInWork = limits.maxRangesInWork
    this.#modules = modules
    this.#ranges = new Shares({ max: limits.maxMissingRanges, evict: 'oldest' })
    this.claims = new HeadClaims(limits)
    this.heads = new HeadsSchedule(limits)
  }

  /** Ranges of all chains. */
  get ranges(): number {
    return this.#ranges.size
  }

  get dueMs(): number {
    return Math.min(this.rangesDueMs, this.claims.dueMs, this.heads.dueMs, this.#lateDueMs)
  }

  opened(range: OpenRange, nowMs: number): void {
    const { fill, progress } = range
    if (fill === undefined) this.#late.set(range, nowMs + this.#maxLateAgeMs)
    else {
      fill.dueMs = nowMs + Math.max(this.#modules.waitMs(), this.#modules.lateMs(progress))
      this.#modules.counters['gap.opened']++
      this.due(progress, fill.dueMs)
    }
    this.#keep(range)
  }

  /**
   * The path by which a chain's batches come brings later ones: it has lost what is missing, or sends it again within two round trips, and
   * others take no longer.
   */
  passed(progress: ChainProgress): void {
    const waitMs = 2 * this.#modules.waitMs()
    let dueMs = Infinity
    // No others are looked for now.
    for (const { fill } of progress.wanted.slice(0, this.#maxRangesInWork)) {
      if (fill === undefined || fill.wasAsked) continue
      fill.dueMs = Math.min(fill.dueMs, fill.openedMs + waitMs)
      dueMs = Math.min(dueMs, fill.dueMs)
    }
    if (dueMs < Infinity) this.due(progress, dueMs)
  }

  split(range: OpenRange, from: OpenRange): void {
    const untilMs = this.#late.get(from)
    if (untilMs !== undefined) this.#late.set(range, untilMs)
    this.#keep(range)
  }

  closed(range: OpenRange): void {
    const { counters } = this.#modules
    const { fill } = range
    this.#forget(range)
    if (fill === undefined) return
    if (fill.archive === 'asked') counters['gap.filledByArchive']++
    else if (fill.wasAsked) counters['gap.filledByNeighbour']++
    else counters['gap.filledByPath']++
  }

  unreachable({ chain }: ChainProgress, range: MissingRange): void {
    this.#modules.onLost(chain, range)
  }

  /** Schedules a step for a chain no later than this time or an earlier schedule. */
  due(progress: ChainProgress, dueMs: number): void {
    this.chains.set(progress, Math.min(dueMs, this.chains.get(progress) ?? Infinity))
    this.rangesDueMs = Math.min(this.rangesDueMs, dueMs)
  }

  /** Stops looking for the range, and says so; for a while what comes of it is still accepted. */
  giveUp(range: OpenRange, nowMs: number): void {
    const { progress } = range
    progress.giveUp(range)
    this.#late.set(range, nowMs + this.#maxLateAgeMs)
    this.#modules.onLost(progress.chain, range)
  }

  /** Forgets a chain and its missing ranges. */
  chainForgotten(progress: ChainProgress): void {
    for (const range of [...progress.wanted, ...progress.late]) this.#lose(range)
    this.chains.delete(progress)
    this.headsInTurn.delete(progress)
  }

  forgetLate(nowMs: number): void {
    for (const [range, untilMs] of this.#late) {
      if (untilMs > nowMs) return
      this.#forget(range)
      range.progress.drop(range)
    }
  }

  get #lateDueMs(): number {
    for (const untilMs of this.#late.values()) return untilMs
    return Infinity
  }

  #keep(range: OpenRange): void {
    for (const lost of this.#ranges.add(range, range.progress.chain.publisherId)) this.#lose(lost)
  }

  /** There is no room for it. */
  #lose(range: OpenRange): void {
    const { counters, onLost } = this.#modules
    const { progress, fill } = range
    this.#forget(range)
    progress.drop(range)
    counters['dedup.rangesDropped']++
    if (fill !== undefined) onLost(progress.chain, range)
  }

  #forget(range: OpenRange): void {
    this.#ranges.delete(range)
    this.#late.delete(range)
  }
}
