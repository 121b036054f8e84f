/** What is made larger until an aim fails: users, or the rate of each publisher. */
export const rampKinds = ['clients', 'rate'] as const
export type RampKind = (typeof rampKinds)[number]

/** What ended a ramp; `ended-early` where it was cut short. */
export type RampEnd = 'network' | 'node' | 'generator' | 'limit' | 'ended-early'

/** How a load went. */
export interface RampStep {
  readonly load: number
  readonly met: boolean
  /** Why not; of one that was met `undefined`. */
  readonly end: RampEnd | undefined
}

/** A load that was tried, for people and programs. */
export interface TriedLoad {
  readonly load: number
  readonly met: boolean
  /** The verdict: what it missed, and what may be doubted. */
  readonly text: string
  readonly p99Ms: number | undefined
  readonly lossPercent: number | undefined
}

/** What a ramp found, in a report. */
export interface Found extends RampResult {
  readonly ramp: RampKind
  readonly tried: readonly TriedLoad[]
}

export interface RampOptions {
  readonly from: number
  /** No larger load is tried. */
  readonly most: number
  /** No more loads are tried. */
  readonly maxSteps: number
}

/** The largest load that was met, and what ended the next larger one that was tried. */
export interface RampResult {
  readonly load: number
  readonly end: RampEnd
}

/** It is known well enough when the smallest load that failed is this much larger than the largest that was met. */
const closeEnough = 1.1

/** Looks for the largest load that meets the aims: doubles it until one fails, then halves the distance. */
export class Ramp {
  readonly #options: RampOptions
  readonly #steps: RampStep[] = []

  constructor(options: RampOptions) {
    this.#options = options
  }

  /** The next load to try; undefined when it is known. */
  next(): number | undefined {
    const { from, most, maxSteps } = this.#options
    if (this.#steps.length >= maxSteps) return undefined
    const [good, bad] = [this.#good(), this.#bad()?.load]
    const next = bad === undefined ? Math.min(most, good === 0 ? from : good * 2) : between(good, bad)
    const isKnown = next <= good || (bad !== undefined && (next >= bad || bad <= good * closeEnough))
    return isKnown ? undefined : next
  }

  add(step: RampStep): void {
    this.#steps.push(step)
  }

  get result(): RampResult {
    return { load: this.#good(), end: this.#bad()?.end ?? 'limit' }
  }

  #good(): number {
    return Math.max(0, ...this.#steps.filter(({ met }) => met).map(({ load }) => load))
  }

  /** The smallest that failed. A larger one that was met after all counts for more. */
  #bad(): RampStep | undefined {
    const good = this.#good()
    return this.#steps.filter(({ met, load }) => !met && load > good).toSorted((a, b) => a.load - b.load)[0]
  }
}

function between(good: number, bad: number): number {
  return Math.round((good + bad) / 2)
}
