/** Of so large a share of pictures that do not come in time the rendition is too much. */
const tooMuch = 0.1
/** Pictures that halt are better than none, as they take nothing from sound; up to here, and for so long. */
const useless = { share: 0.8, ms: 5_000 } as const
/** So little is as good as none. */
const nearlyNone = 0.02
/** The next higher rendition is tried after this long without trouble; the time doubles whenever that was too much. */
const firstTryMs = 10_000
/** The most that this time grows to. */
const longestTryMs = 160_000
/** Nobody is without pictures for longer than this, as the trouble may be over. */
const longestNoneMs = 10_000
/** A rendition is judged after this long, as its first group may be cut. */
const judgedAfterMs = 2_000

/** What came of a rendition since the last report. */
export interface RenditionReport {
  readonly decoded: number
  /** Lost, late or undecodable. */
  readonly failed: number
}

/**
 * Which rendition a reader takes: the highest that comes through; none, −1, where the lowest does not. A ladder with memory, so that it does
 * not go up and down all the time.
 */
export class RenditionChoice {
  #index: number
  #highest: number
  #sinceMs: number
  #tryMs = firstTryMs
  /** When the lowest last came through. */
  #usefulMs: number

  /** Begins with the lowest of `count`. */
  constructor(count: number, nowMs: number) {
    this.#index = 0
    this.#highest = count - 1
    this.#sinceMs = nowMs
    this.#usefulMs = nowMs
  }

  /** From 0, the lowest; −1 for sound only. */
  get index(): number {
    return this.#index
  }

  /** The highest that is of use where it is shown. */
  limit(highest: number, nowMs: number): void {
    this.#highest = highest
    if (this.#index > highest) this.#go(highest, nowMs)
  }

  /** Reported about once a second. */
  report({ decoded, failed }: RenditionReport, nowMs: number): void {
    const total = decoded + failed
    // Where none is taken nothing can come of it.
    if (nowMs - this.#sinceMs < judgedAfterMs || (total === 0 && this.#index >= 0)) return
    const share = failed / Math.max(1, total)
    if (share < useless.share) this.#usefulMs = nowMs
    const isTooMuch = this.#index === 0 ? nowMs - this.#usefulMs >= useless.ms : share >= tooMuch
    if (this.#index >= 0 && isTooMuch) {
      this.#tryMs = Math.min(2 * this.#tryMs, longestTryMs)
      this.#go(this.#index - 1, nowMs)
    } else if (share > nearlyNone) this.#sinceMs = nowMs - judgedAfterMs
    else if (this.#index < this.#highest && nowMs - this.#sinceMs >= this.#nextTryMs)
      this.#go(this.#index + 1, nowMs)
  }

  get #nextTryMs(): number {
    return this.#index < 0 ? Math.min(longestNoneMs, this.#tryMs) : this.#tryMs
  }

  #go(index: number, nowMs: number): void {
    this.#index = index
    this.#sinceMs = nowMs
    this.#usefulMs = nowMs
  }
}
