/** Tells when this thread has verified for more than its share of the time that went by, and some milliseconds. */
export class MainThreadShare {
  readonly #burstMs: number
  readonly #share: number
  #spentMs = 0
  #atMs = 0

  constructor(options: { readonly burstMs: number; readonly share: number }) {
    this.#burstMs = options.burstMs
    this.#share = options.share
  }

  /** It took so long, until now. */
  spent(durationMs: number, nowMs: number): void {
    this.#pass(nowMs)
    // Not more, so that one long turn is forgotten soon.
    this.#spentMs = Math.min(this.#spentMs + durationMs, 2 * this.#burstMs)
  }

  isBehind(nowMs: number): boolean {
    this.#pass(nowMs)
    return this.#spentMs > this.#burstMs
  }

  #pass(nowMs: number): void {
    this.#spentMs = Math.max(0, this.#spentMs - this.#share * (nowMs - this.#atMs))
    this.#atMs = nowMs
  }
}
