/** Where a playback is: moves at its rate while it runs. */
export class PlaybackClock {
  #positionMs: number
  #atMs = 0
  #rate = 1
  #isRunning = false
  #ranMs = 0

  constructor(positionMs: number) {
    this.#positionMs = positionMs
  }

  get rate(): number {
    return this.#rate
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  positionMs(nowMs: number): number {
    return this.#positionMs + (this.#isRunning ? (nowMs - this.#atMs) * this.#rate : 0)
  }

  /** How long it ran, by the clock of whoever watches. */
  ranMs(nowMs: number): number {
    return this.#ranMs + (this.#isRunning ? nowMs - this.#atMs : 0)
  }

  run(nowMs: number): void {
    this.#anchor(nowMs)
    this.#isRunning = true
  }

  hold(nowMs: number): void {
    this.#anchor(nowMs)
    this.#isRunning = false
  }

  jump(positionMs: number, nowMs: number): void {
    this.#anchor(nowMs)
    this.#positionMs = positionMs
  }

  setRate(rate: number, nowMs: number): void {
    this.#anchor(nowMs)
    this.#rate = rate
  }

  #anchor(nowMs: number): void {
    this.#positionMs = this.positionMs(nowMs)
    this.#ranMs = this.ranMs(nowMs)
    this.#atMs = nowMs
  }
}
