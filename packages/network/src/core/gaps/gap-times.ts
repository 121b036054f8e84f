import type { NodeId } from '@runnel/protocol'

export interface GapTimesLimits {
  readonly minGapWaitMs: number
  readonly maxGapWaitMs: number
  readonly maxFetchRttMs: number
}

type RttOf = (peerId: NodeId) => number | undefined

/** Used until the first ping is answered. */
const unknownRttMs = 50

/**
 * How long to wait for another path to bring what is missing: a path with one more neighbour is two hops, about one round-trip
 * time. Uses the median of the neighbours, so that one that is far away does not delay all the others.
 */
export function gapWaitMs(neighbours: readonly NodeId[], rttOf: RttOf, limits: GapTimesLimits): number {
  const rtts = neighbours.map((peerId) => rttOf(peerId) ?? unknownRttMs).sort((a, b) => a - b)
  const median = rtts[(rtts.length - 1) >> 1] ?? unknownRttMs
  return Math.ceil(Math.min(limits.maxGapWaitMs, Math.max(limits.minGapWaitMs, median)))
}

/**
 * How long a neighbour may take to answer a fetch: one round-trip time, half of one for its queue, and a little for the work. A
 * neighbour decides itself how far away it seems, and nobody else is asked meanwhile: beyond a limit its answer is taken when it comes.
 */
export function fetchTimeoutMs(rttMs: number | undefined, limits: GapTimesLimits): number {
  return Math.ceil(1.5 * Math.min(limits.maxFetchRttMs, rttMs ?? unknownRttMs)) + 3 * limits.minGapWaitMs
}
