import type { Clock } from '@runnel/protocol'

/** How much of what comes in may be read: so many bytes a second, and a second's worth at once. */
export class Pace {
  readonly #bytesPerS: number
  readonly #clock: Clock
  /** When what was read so far will have been paid for. */
  #paidMs = -Infinity

  constructor(bytesPerS: number, clock: Clock) {
    this.#bytesPerS = bytesPerS
    this.#clock = clock
  }

  /** So many bytes were read: the milliseconds to wait before more are; 0 for none. */
  read(bytes: number): number {
    const nowMs = this.#clock.monotonicMs()
    this.#paidMs = Math.max(this.#paidMs, nowMs - 1_000) + (bytes / this.#bytesPerS) * 1_000
    return Math.max(0, this.#paidMs - nowMs)
  }
}
