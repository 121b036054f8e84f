import type { RandomSource } from './cheapest.ts'
import type { Diversity } from './diversity.ts'

/** Decides between choices that are equally correct. */
export interface Chooser<Id extends string> {
  readonly random: RandomSource
  /** The cost of an edge between the two: 0 is none, never Infinity. Symmetric. */
  readonly reluctance: (a: Id, b: Id) => number
  /** Which networks nodes come from. Default: ignored. */
  readonly diversity?: Diversity<Id>
}
