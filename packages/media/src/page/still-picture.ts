/// <reference lib="dom" />
/** After this long without another picture the newest one is given again, and as often from then on. */
const stillAfterMs = 1_000

/**
 * Gives each picture on, and the newest one again for as long as no other comes. A screen on which nothing moves gives none, and whoever
 * comes later, or lost one, would see nothing of it.
 */
export class StillPicture {
  readonly #give: (picture: VideoFrame) => void
  #newest: VideoFrame | undefined
  #cameMs = 0
  #timer: ReturnType<typeof setInterval> | undefined

  /** `give` does not close a picture. */
  constructor(give: (picture: VideoFrame) => void) {
    this.#give = give
  }

  /** Takes a picture, and closes the one before. */
  take(picture: VideoFrame): void {
    this.#newest?.close()
    this.#newest = picture
    this.#cameMs = performance.now()
    this.#timer ??= setInterval(() => this.#repeat(), stillAfterMs / 2)
    this.#give(picture)
  }

  /** Idempotent. */
  close(): void {
    clearInterval(this.#timer)
    this.#newest?.close()
    this.#newest = undefined
  }

  #repeat(): void {
    const nowMs = performance.now()
    if (this.#newest === undefined || nowMs - this.#cameMs < stillAfterMs) return
    this.#cameMs = nowMs
    this.#give(this.#newest)
  }
}
