import type { Clock } from '@runnel/protocol'
import { LRU } from 'tiny-lru'

/** For how long is left alone what has failed too often; twice as long after each further failure. */
const firstPauseMs = 30_000
/** The longest that anything is left alone. */
const longestPauseMs = 3_600_000

interface Streak {
  readonly count: number
  readonly untilMs: number
}

export interface FailuresOptions {
  /** Failures in a row after which a target is left alone for a while. */
  readonly maxFree: number
  /** Targets that are remembered; those that failed longest ago are forgotten. */
  readonly maxTargets: number
}

/** What was dialled in vain, how often in a row, and until when it is left alone. */
export class Failures {
  readonly #maxFree: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #streaks: LRU<Streak>

  constructor(options: FailuresOptions, clock: Pick<Clock, 'monotonicMs'>) {
    this.#maxFree = options.maxFree
    this.#streaks = new LRU(options.maxTargets)
    this.#clock = clock
  }

  /** Failures in a row. */
  countOf(target: string): number {
    return this.#streaks.peek(target)?.count ?? 0
  }

  isResting(target: string): boolean {
    return (this.#streaks.peek(target)?.untilMs ?? -Infinity) > this.#clock.monotonicMs()
  }

  add(target: string): void {
    const count = this.countOf(target) + 1
    const beyond = count - this.#maxFree
    const pauseMs = beyond < 0 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** beyond)
    this.#streaks.set(target, { count, untilMs: this.#clock.monotonicMs() + pauseMs })
  }

  clear(target: string): void {
    this.#streaks.delete(target)
  }
}
