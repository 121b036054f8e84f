import type { PublisherPolicy } from '@runnel/network'
import { publishesUntilMs, streamOfScope } from '@runnel/protocol'
import { predates } from './predates.ts'
import type { RegistryCache } from './registry-cache.ts'
import type { DelegationChecks } from './registry-delegations.ts'

/** Tells the node who may publish: at once from the cache, else from the registry. */
export function createPublisherPolicy(cache: RegistryCache, delegations: DelegationChecks): PublisherPolicy {
  return {
    check(scope, publisherId, wallMs, oldestMs = Infinity, delegation) {
      const streamId = streamOfScope(scope)
      const permissions = cache.peekPermissions(streamId, publisherId)
      const stream = cache.peekStream(streamId)
      if (permissions === undefined || stream === undefined) return 'unknown'
      if (stream === null || predates(oldestMs, stream)) return 'denied'
      if (wallMs >= publishesUntilMs(permissions, scope)) return 'denied'
      return delegation === undefined ? 'allowed' : delegations.check(delegation)
    },
    async resolve(scope, publisherId, cause, delegation) {
      const streamId = streamOfScope(scope)
      const [permissions] = await Promise.all([
        cache.permissionsOf(streamId, publisherId, cause),
        cache.getStream(streamId),
      ])
      // Nothing is asked for those who may not publish anyway.
      if (delegation !== undefined && publishesUntilMs(permissions, scope) > 0)
        await delegations.resolve(delegation, cause)
    },
  }
}
