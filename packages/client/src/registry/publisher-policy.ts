import type { PublisherPolicy } from '@runnel/network'
import { predates } from './predates.ts'
import type { RegistryCache } from './registry-cache.ts'
import type { DelegationChecks } from './registry-delegations.ts'

/** Tells the node who may publish: at once from the cache, else from the registry. */
export function createPublisherPolicy(cache: RegistryCache, delegations: DelegationChecks): PublisherPolicy {
  return {
    check(streamId, publisherId, wallMs, oldestMs = Infinity, delegation) {
      const permissions = cache.peekPermissions(streamId, publisherId)
      const stream = cache.peekStream(streamId)
      if (permissions === undefined || stream === undefined) return 'unknown'
      if (stream === null || predates(oldestMs, stream)) return 'denied'
      if (wallMs >= permissions.publishUntilMs) return 'denied'
      return delegation === undefined ? 'allowed' : delegations.check(delegation)
    },
    async resolve(streamId, publisherId, cause, delegation) {
      const [permissions] = await Promise.all([
        cache.permissionsOf(streamId, publisherId, cause),
        cache.getStream(streamId),
      ])
      // Nothing is asked for those who may not publish anyway.
      if (delegation !== undefined && permissions.publishUntilMs > 0)
        await delegations.resolve(delegation, cause)
    },
  }
}
