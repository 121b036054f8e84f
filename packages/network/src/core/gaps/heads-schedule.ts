export interface HeadsScheduleLimits {
  readonly headsIntervalMs: number
  readonly maxRecentAgeMs: number
}

/**
 * When a stream part's neighbours are told how far its chains were received, and which of them. A chain is told soon after
 * its newest message, as any one telling may be lost again when that is one interval old, two, four and so on, and not at
 * all when nothing is left that could be sent again: what is said grows with the messages that come, not with the chains
 * there are, and a silent stream part is silent on the wire.
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

  /** When due: whether a chain is to be told now whose newest message came at `usedMs`. */
  take(nowMs: number): ((usedMs: number) => boolean) | undefined {
    if (nowMs < this.#dueMs) return undefined
    const { headsIntervalMs, maxRecentAgeMs } = this.#limits
    const toldMs = this.#toldMs
    this.#toldMs = nowMs
    this.#pauseMs = this.#hasNews ? headsIntervalMs : this.#pauseMs * 2
    this.#hasNews = false
    const dueMs = nowMs + this.#pauseMs
    this.#dueMs = dueMs - this.#newsMs > maxRecentAgeMs ? Infinity : dueMs
    return (usedMs) =>
      nowMs - usedMs <= maxRecentAgeMs && this.#tellings(nowMs - usedMs) > this.#tellings(toldMs - usedMs)
  }

  /** How often a chain should have been told when its newest message is so old. */
  #tellings(ageMs: number): number {
    if (ageMs < 0) return 0
    const intervals = ageMs / this.#limits.headsIntervalMs
    return intervals < 1 ? 1 : 2 + Math.floor(Math.log2(intervals))
  }
}
