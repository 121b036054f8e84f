import type { Clock } from '@runnel/protocol'

/** How long a target is not dialled after too many failures; doubles with each further failure. */
const firstPauseMs = 30_000
/** The longest such pause. */
const longestPauseMs = 3_600_000

interface Streak {
  readonly count: number
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
