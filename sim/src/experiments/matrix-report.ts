/** What graphs of one size and degree were found to be. */
export interface MatrixReport extends MatrixMeasures {
  readonly nodes: number
  readonly degree: number
  readonly repeats: number
}

export interface MatrixMeasures {
  /** Of an edge between any two nodes in one graph. */
  readonly meanEdgeProbability: number
  /** d / (n − 1), equation 5.1. */
  readonly exactEdgeProbability: number
  /** Pairs that were connected so many times, by that number. */
  readonly distribution: readonly number[]
  readonly chiSquare: number
  readonly degreesOfFreedom: number
  /** The probability of a chi-square as large in graphs in which all pairs are equally likely. */
  readonly pValue: number
  /** How likely an edge between two of the first nodes is, compared with any two. */
  readonly firstJoinersRatio: number
  /** The same in standard deviations from 1. */
  readonly firstJoinersDeviations: number
}
