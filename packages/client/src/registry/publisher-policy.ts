import type { PublisherPolicy } from '@runnel/network'
import type { RegistryCache } from './registry-cache.ts'

/** Who may publish, for the node: from the cache at once, from the registry when it must be. */
export function createPublisherPolicy(cache: RegistryCache): PublisherPolicy {
  return {
    check(streamId, publisherId, nowMs) {
      const permissions = cache.peekPermissions(streamId, publisherId)
      if (permissions === undefined) return 'unknown'
      return nowMs < permissions.publishUntilMs ? 'allowed' : 'denied'
    },
    async resolve(streamId, publisherId, from) {
      await cache.permissionsOf(streamId, publisherId, from)
    },
  }
}
