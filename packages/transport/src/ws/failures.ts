import type { Clock } from '@runnel/protocol'
import { LRU } from 'tiny-lru'

/** How long a target is not dialled after too many failures; doubles with each further failure. */
const firstPauseMs = 30_000
/** The longest such pause. */
const longestPauseMs = 3_600_000

interface Streak {
  readonly count: number
  readonly failedMs: number
  readonly untilMs: number
}

export interface FailuresOptions {
  /** Failures in a row after which a target is not dialled for a while. */
  readonly maxFree: number
  /** Targets that are remembered; those that failed longest ago are forgotten. */
  readonly maxTargets: number
}

/** Targets that failed, how often in a row, and until when they are not dialled. */
export class Failures {
  readonly #maxFree: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #streaks: LRU<Streak>
  #forgivenMs = -Infinity

  constructor(options: FailuresOptions, clock: Pick<Clock, 'monotonicMs'>) {
    this.#maxFree = options.maxFree
    this.#streaks = new LRU(options.maxTargets)
    this.#clock = clock
  }

  /** Failures in a row. */
  countOf(target: string): number {
    return this.#streaks.peek(target)?.count ?? 0
  }

  /** Of a pause that is longer than `maxPauseMs` only so much counts. */
  isResting(target: string, maxPauseMs = longestPauseMs): boolean {
    const { failedMs, untilMs } = this.#streaks.peek(target) ?? { failedMs: -Infinity, untilMs: -Infinity }
    const endsMs = Math.min(untilMs, failedMs + maxPauseMs)
    return failedMs >= this.#forgivenMs && endsMs > this.#clock.monotonicMs()
  }

  add(target: string): void {
    const count = this.countOf(target) + 1
    const beyond = count - this.#maxFree
    const pauseMs = beyond < 0 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** beyond)
    const failedMs = this.#clock.monotonicMs()
    this.#streaks.set(target, { count, failedMs, untilMs: failedMs + pauseMs })
  }

  clear(target: string): void {
    this.#streaks.delete(target)
  }

  /**
   * What has failed may have done so because this side was cut off: each target may be dialled once more. Not more often than
   * the longest pause, so that whoever can cut this side off again and again does not end the pauses.
   */
  forgive(): void {
    const nowMs = this.#clock.monotonicMs()
    if (this.#streaks.size > 0 && nowMs >= this.#forgivenMs + longestPauseMs) this.#forgivenMs = nowMs
  }
}
