import type { StreamPart } from './stream-part.ts'

/** How much a stream part keeps of what others sent, for metrics and for tests that it is bounded. */
export interface Kept {
  /** Message chains remembered. */
  readonly chains: number
  /** Missing ranges remembered, in all chains. */
  readonly ranges: number
  /** Missing ranges of chains in which something is looked for: what one tick may have to go through. */
  readonly rangesSought: number
  /** Batches kept for replay. */
  readonly recentBatches: number
  /** Total bytes of these batches. */
  readonly recentBytes: number
  /** Keys whose newest message is kept, and one more for the newest of all. */
  readonly latestKeys: number
  /** Total bytes of the batches that these are in. */
  readonly latestBytes: number
  /** Claims of neighbours that they have newer messages of a chain. */
  readonly headClaims: number
  /** Chains whose heads are still to be told to neighbours. */
  readonly headsInTurn: number
}

export function keptBy({ seen, gaps, recent, latest }: StreamPart): Kept {
  let rangesSought = 0
  for (const progress of gaps.chains.keys()) rangesSought += progress.wanted.length
  return {
    chains: seen.chains,
    ranges: gaps.ranges,
    rangesSought,
    recentBatches: recent.size,
    recentBytes: recent.bytes,
    latestKeys: latest.keys,
    latestBytes: latest.bytes,
    headClaims: [...gaps.claims].length,
    headsInTurn: gaps.headsInTurn.size,
  }
}
