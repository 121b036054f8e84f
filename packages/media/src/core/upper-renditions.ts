/** Renditions above the lowest are tried again after this long without trouble; the time doubles each time, up to the other. */
const tryMs = { first: 10_000, longest: 160_000 } as const

/**
 * Whether a computer leaves out the renditions above the lowest: as soon as it is busy, as they take most of what encoding and signing take,
 * and until it has not been for a while. A ladder with memory, as a reader's (`RenditionChoice`), so that they do not come and go all the time.
 */
export class UpperRenditions {
  #areLeftOut = false
  #nextTryMs: number = tryMs.first
  #freeSinceMs: number | undefined

  get areLeftOut(): boolean {
    return this.#areLeftOut
  }

  /** Told several times a second whether the computer is busy. Returns whether `areLeftOut` is another now. */
  told(isBusy: boolean, nowMs: number): boolean {
    const before = this.#areLeftOut
    if (isBusy) {
      this.#areLeftOut = true
      this.#freeSinceMs = undefined
      return !before
    }
    this.#freeSinceMs ??= nowMs
    if (!before || nowMs - this.#freeSinceMs < this.#nextTryMs) return false
    this.#areLeftOut = false
    this.#nextTryMs = Math.min(2 * this.#nextTryMs, tryMs.longest)
    return true
  }
}
