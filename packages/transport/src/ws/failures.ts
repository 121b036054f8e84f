import type { Clock } from '@runnel/protocol'

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
  readonly #options: FailuresOptions
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #streaks = new Map<string, Streak>()

  constructor(options: FailuresOptions, clock: Pick<Clock, 'monotonicMs'>) {
    this.#options = options
    this.#clock = clock
  }

  /** Failures in a row. */
  countOf(target: string): number {
    return this.#streaks.get(target)?.count ?? 0
  }

  isResting(target: string): boolean {
    return (this.#streaks.get(target)?.untilMs ?? -Infinity) > this.#clock.monotonicMs()
  }

  add(target: string): void {
    const { maxFree, maxTargets } = this.#options
    const count = this.countOf(target) + 1
    const pauseMs = count < maxFree ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (count - maxFree))
    this.#streaks.delete(target)
    this.#streaks.set(target, { count, untilMs: this.#clock.monotonicMs() + pauseMs })
    for (const oldest of this.#streaks.keys()) {
      if (this.#streaks.size <= maxTargets) break
      this.#streaks.delete(oldest)
    }
  }

  clear(target: string): void {
    this.#streaks.delete(target)
  }
}
