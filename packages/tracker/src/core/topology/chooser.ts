import type { RandomSource } from './cheapest.ts'
import type { Diversity } from './diversity.ts'

/** What decides between choices that are equally right. */
export interface Chooser<Id extends string> {
  readonly random: RandomSource
  /** What speaks against an edge between the two: 0 is nothing, never Infinity. Symmetric. */
  readonly reluctance: (a: Id, b: Id) => number
  /** Where nodes come from; default: that does not matter. */
  readonly diversity?: Diversity<Id>
}
