import type { Overlay } from '../experiments/experiment.ts'
import { mean } from '../measures/statistics.ts'

/** An overlay at one moment. */
export interface Sample {
  /** Virtual seconds since the last join. */
  readonly atS: number
  /** From some nodes to all others, by the fastest way. */
  readonly meanDelayMs: number
  /** Every node has its degree. */
  readonly complete: boolean
}

/** Virtual seconds in which an overlay has to stay as it is. Random ones do nothing any more once they are complete. */
const steadyS = { random: 20, 'topology-aware': 120 } as const satisfies Record<Overlay, number>
/** It stays as it is when its mean delay falls less than this in that time. */
const steadyShare = 0.01
/** Samples of which the mean is taken on both sides: delays go up and down a little with every exchange. */
const smoothed = 10
/** Converged: no further than this from the mean delay at the end. */
const convergedShare = 0.02

/** Tells when an overlay has settled, from a sample every virtual second. */
export class Settling {
  readonly #steadyS: number
  readonly #samples: Sample[] = []

  constructor(overlay: Overlay) {
    this.#steadyS = steadyS[overlay]
  }

  add(sample: Sample): void {
    this.#samples.push(sample)
  }

  /**
   * Whether every node has its degree and the mean delay, over the last samples, is less than 1 % lower than it was at the
   * start of the steady time.
   */
  get isSettled(): boolean {
    const samples = this.#samples
    if (samples.at(-1)?.complete !== true || samples.length < this.#steadyS + smoothed) return false
    const before = samples.slice(-this.#steadyS - smoothed, -this.#steadyS)
    const fall = 1 - meanOf(samples.slice(-smoothed)) / meanOf(before)
    return before.every(({ complete }) => complete) && fall < steadyShare
  }

  /**
   * Virtual seconds from the last join until every degree was right and the mean delay within 2 % of what it was in the
   * end, for good; undefined when not every degree is right.
   */
  get convergedAfterS(): number | undefined {
    const last = this.#samples.at(-1)
    if (last?.complete !== true) return undefined
    const endMs = meanOf(this.#samples.slice(-smoothed))
    const isFar = ({ meanDelayMs, complete }: Sample): boolean =>
      !complete || Math.abs(meanDelayMs / endMs - 1) > convergedShare
    return (this.#samples[this.#samples.findLastIndex(isFar) + 1] ?? last).atS
  }
}

function meanOf(samples: readonly Sample[]): number {
  return mean(samples.map(({ meanDelayMs }) => meanDelayMs)) ?? Infinity
}
