/** Half-life of the measured lateness. */
const halfLifeMs = 2_000
/** Late for so much of the time a thread is busy; and no longer below the other. */
const share = { busy: 0.3, free: 0.1 } as const

/**
 * Whether the thread gets less of the processor than it needs, told by how late it is called. Pictures that pause for that reason do not pause for
 * the network, and people can do something about it.
 */
export class Busyness {
  #lateShare = 0
  #dueMs: number | undefined
  #atMs = 0
  #isBusy = false

  get isBusy(): boolean {
    return this.#isBusy
  }

  /** It will be late for another reason: a browser holds timers back. */
  skip(): void {
    this.#dueMs = undefined
  }

  /** It was called, and wants to be called again in so long. Returns whether `isBusy` is another now. */
  called(nowMs: number, againMs: number): boolean {
    const before = this.#isBusy
    if (this.#dueMs !== undefined) {
      const passedMs = Math.max(1, nowMs - this.#atMs)
      const kept = 2 ** (-passedMs / halfLifeMs)
      const late = Math.max(0, nowMs - this.#dueMs) / passedMs
      this.#lateShare = this.#lateShare * kept + late * (1 - kept)
      this.#isBusy = this.#lateShare > (before ? share.free : share.busy)
    }
    this.#atMs = nowMs
    this.#dueMs = nowMs + againMs
    return this.#isBusy !== before
  }
}
