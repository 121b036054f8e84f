export interface HeadsScheduleLimits {
  readonly headsIntervalMs: number
  readonly maxRecentAgeMs: number
}

/** Chains used within so many intervals are told again while there is news: any one telling may be lost. */
const toldTimes = 5

/**
 * When a stream part's neighbours are told how far its chains were received. Often while messages come, then ever more
 * rarely, and not at all when nothing is left that could be sent again: a silent stream part is silent on the wire.
 */
export class HeadsSchedule {
  readonly #limits: HeadsScheduleLimits
  #dueMs = Infinity
  #pauseMs = 0
  #newsMs = -Infinity
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

  /** When due: since when chains must have been used to be told now. */
  take(nowMs: number): number | undefined {
    if (nowMs < this.#dueMs) return undefined
    const { headsIntervalMs, maxRecentAgeMs } = this.#limits
    const usedSinceMs = nowMs - (this.#hasNews ? toldTimes * headsIntervalMs : maxRecentAgeMs)
    this.#pauseMs = this.#hasNews ? headsIntervalMs : this.#pauseMs * 2
    this.#hasNews = false
    const dueMs = nowMs + this.#pauseMs
    this.#dueMs = dueMs - this.#newsMs > maxRecentAgeMs ? Infinity : dueMs
    return usedSinceMs
  }
}
