/** What must always hold (docs/ARCHITECTURE.md says where each is kept), as the fuzzer names it. */
export type Invariant =
  | 'noiseless'
  | 'degree'
  | 'graph'
  | 'delivery'
  | 'authentic'
  | 'secret'
  | 'served'
  | 'withheld'
  | 'flooding'
  | 'bounded'
  | 'innocent'
  | 'no process ends'
  | 'no exception'
  | 'same trace'
  | 'no fault'
  | 'tick cost'
  | 'newcomers'
  | 'membership'
  | 'adoption'

export interface Breach {
  readonly invariant: Invariant
  /** Virtual time. */
  readonly atMs: number
  readonly detail: string
}

/** The first time an invariant did not hold; what comes after may only be a consequence. */
export class Breaches {
  readonly #nowMs: () => number
  #first: Breach | undefined

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get first(): Breach | undefined {
    return this.#first
  }

  report(invariant: Invariant, detail: string): void {
    this.#first ??= { invariant, atMs: Math.round(this.#nowMs()), detail }
  }
}
