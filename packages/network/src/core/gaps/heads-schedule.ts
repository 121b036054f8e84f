export interface HeadsScheduleLimits {
  readonly headsIntervalMs: number
  readonly maxRecentAgeMs: number
}

/**
 * When neighbours are told how far a stream part's chains were received, and which of them. Soon after its newest message
 * of a chain came, the one who sent it is told, and so need not tell in turn. Those who may lack it are told when it is one
 * interval old, and, as any one telling may be lost, two, four and so on; and not any more when nothing is left that could
 * be sent again. What is said grows with the messages that come, not with the chains there are, and a silent stream part is
 * silent on the wire.
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
    this.#hasNews = true
    const dueMs = nowMs + this.#limits.headsIntervalMs
    if (dueMs < this.#dueMs) this.#dueMs = dueMs
  }

  /** When due: which neighbours are to be told now, if any, of a chain whose newest message came at `usedMs`. */
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

  /** How often a chain should have been told when its newest message is so old. */
  #tellings(ageMs: number): number {
    if (ageMs < 0) return 0
    const intervals = ageMs / this.#limits.headsIntervalMs
    return intervals < 1 ? 1 : 2 + Math.floor(Math.log2(intervals))
  }
}
