export interface HeadsScheduleLimits {
  readonly headsIntervalMs: number
  readonly maxRecentAgeMs: number
}

/**
 * Decides when neighbours are told the heads of a stream part, and of which chains. Soon after a chain's newest message came,
 * its sender is told, and so need not tell in turn. Those who may lack it are told when it is one interval old and, because any
 * packet may be lost, after two, four and so on; and no longer once nothing is left that could be sent again. The traffic grows
 * with the messages that come, not with the number of chains, and a silent stream part sends nothing.
 */
export class HeadsSchedule {
  readonly #limits: HeadsScheduleLimits
  #dueMs = Infinity
  #pauseMs = 0
  #newsMs = -Infinity
  #toldMs = -Infinity
  #hasNews = false

  constructor(limits: HeadsScheduleLimits) {
    this.#limits = limits
  }

  get dueMs(): number {
    return this.#dueMs
  }

  /** A new message came. */
  news(nowMs: number): void {
    this.#newsMs = nowMs
    this.goesOn(nowMs)
  }

  /** Some that were due have their turn one interval from now. */
  goesOn(nowMs: number): void {
    this.#hasNews = true
    this.#dueMs = Math.min(this.#dueMs, nowMs + this.#limits.headsIntervalMs)
  }

  /** When due: a function that decides, for a chain whose newest message came at `usedMs`, which neighbours to tell, if any. */
  take(nowMs: number): ((usedMs: number) => 'waiting' | 'lacking' | undefined) | undefined {
    if (nowMs < this.#dueMs) return undefined
    const { headsIntervalMs, maxRecentAgeMs } = this.#limits
    const toldMs = this.#toldMs
    this.#toldMs = nowMs
    this.#pauseMs = this.#hasNews ? headsIntervalMs : this.#pauseMs * 2
    this.#hasNews = false
    const dueMs = nowMs + this.#pauseMs
    this.#dueMs = dueMs - this.#newsMs > maxRecentAgeMs ? Infinity : dueMs
    return (usedMs) => {
      if (nowMs - usedMs > maxRecentAgeMs) return undefined
      const before = this.#tellings(toldMs - usedMs)
      if (this.#tellings(nowMs - usedMs) <= before) return undefined
      return before === 0 ? 'waiting' : 'lacking'
    }
  }

  /** How often a chain should have been announced when its newest message is this old. */
  #tellings(ageMs: number): number {
    if (ageMs < 0) return 0
    const intervals = ageMs / this.#limits.headsIntervalMs
    return intervals < 1 ? 1 : 2 + Math.floor(Math.log2(intervals))
  }
}
