import { networkLimits, type Kept, type NetworkLimits } from '@runnel/network'
import { limits as wireLimits } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'
import { checkBounds } from './bounded.ts'

/** What a stream part keeps is bounded, and so is what one tick goes through. */
export function checkKept(
  owner: string,
  kept: Kept,
  limits: Partial<NetworkLimits>,
  breaches: Breaches,
): void {
  const { maxChains, maxMissingRanges, maxRecentBatches, maxRecentBytes, maxHeadClaims } = {
    ...networkLimits,
    ...limits,
  }
  const sizes = [
    { name: 'chains', size: kept.chains, limit: maxChains },
    { name: 'missing ranges', size: kept.ranges, limit: maxMissingRanges },
    { name: 'recent batches', size: kept.recentBatches, limit: maxRecentBatches },
    { name: 'recent bytes', size: kept.recentBytes, limit: maxRecentBytes },
    { name: 'head claims', size: kept.headClaims, limit: maxHeadClaims * wireLimits.maxNeighbours },
    { name: 'heads in turn', size: kept.headsInTurn, limit: kept.chains },
  ]
  checkBounds(owner, sizes, breaches)
  if (kept.rangesSought > maxMissingRanges)
    breaches.report(
      'tick cost',
      `${owner}: a tick goes through ${kept.rangesSought} ranges, limit ${maxMissingRanges}`,
    )
}
