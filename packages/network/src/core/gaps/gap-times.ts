import type { NodeId } from '@runnel/protocol'

export interface GapTimesLimits {
  readonly minGapWaitMs: number
  readonly maxGapWaitMs: number
}

type RttOf = (peerId: NodeId) => number | undefined

/** Until the first ping is answered. */
const unknownRttMs = 50

/**
 * How long another path may take to bring what is missing: the way by a neighbour more is two hops, about one round-trip
 * time. The median of the neighbours counts, so that one that is far away does not delay all the others.
 */
export function gapWaitMs(neighbours: readonly NodeId[], rttOf: RttOf, limits: GapTimesLimits): number {
  const rtts = neighbours.map((peerId) => rttOf(peerId) ?? unknownRttMs).sort((a, b) => a - b)
  const median = rtts[(rtts.length - 1) >> 1] ?? unknownRttMs
  return Math.ceil(Math.min(limits.maxGapWaitMs, Math.max(limits.minGapWaitMs, median)))
}

/** How long a neighbour may take to answer a fetch: a round-trip time, half of one for its queue, and a little to do it. */
export function fetchTimeoutMs(rttMs: number | undefined, limits: GapTimesLimits): number {
  return Math.ceil(1.5 * (rttMs ?? unknownRttMs)) + 3 * limits.minGapWaitMs
}
