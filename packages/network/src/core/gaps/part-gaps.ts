import type { MessageChain, MissingRange } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { ChainProgress, Fill, OpenRange, RangeWatch } from '../dedup/chain-progress.ts'
import { HeadClaims } from './head-claims.ts'
import { HeadsSchedule, type HeadsScheduleLimits } from './heads-schedule.ts'

export interface PartGapsLimits extends HeadsScheduleLimits {
  readonly maxHeadClaims: number
}

export interface PartGapsModules {
  readonly counters: Counters
  /** How long another path may take to bring what is missing. */
  waitMs(): number
  /** A range was forgotten before it was filled. */
  onLost(chain: MessageChain, range: MissingRange): void
}

/** What is missing in one stream part, and when something is to be done about it. */
export class PartGaps implements RangeWatch {
  /** False: what is missing is waited for, but not asked for. */
  fillGaps = true
  /** Chains with ranges that are looked for. */
  readonly chains = new Set<ChainProgress>()
  readonly claims: HeadClaims
  readonly heads: HeadsSchedule
  /** When the next step for a range is due, or earlier. */
  rangesDueMs = Infinity
  readonly #modules: PartGapsModules

  constructor(limits: PartGapsLimits, modules: PartGapsModules) {
    this.#modules = modules
    this.claims = new HeadClaims(limits)
    this.heads = new HeadsSchedule(limits)
  }

  get dueMs(): number {
    return Math.min(this.rangesDueMs, this.claims.dueMs, this.heads.dueMs)
  }

  opened(progress: ChainProgress, nowMs: number): Fill {
    const dueMs = nowMs + this.#modules.waitMs()
    this.chains.add(progress)
    this.rangesDueMs = Math.min(this.rangesDueMs, dueMs)
    this.#modules.counters['gap.opened']++
    return {
      openedMs: nowMs,
      dueMs,
      tries: 0,
      denials: undefined,
      requestId: 0,
      archive: 'unasked',
      isFed: false,
    }
  }

  closed(fill: Fill): void {
    const { counters } = this.#modules
    if (fill.archive === 'asked') counters['gap.filledByArchive']++
    else if (fill.tries > 0 || fill.requestId > 0) counters['gap.filledByNeighbour']++
    else counters['gap.filledByPath']++
  }

  dropped(progress: ChainProgress, range: OpenRange): void {
    const { counters, onLost } = this.#modules
    counters['dedup.rangesDropped']++
    if (range.fill !== undefined) onLost(progress.chain, range)
  }
}
