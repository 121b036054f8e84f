import type { PublisherPolicy } from '@runnel/network'
import { predates } from './predates.ts'
import type { RegistryCache } from './registry-cache.ts'

/** Tells the node who may publish: at once from the cache, else from the registry. */
export function createPublisherPolicy(cache: RegistryCache): PublisherPolicy {
  return {
    check(streamId, publisherId, wallMs, oldestMs = Infinity) {
      const permissions = cache.peekPermissions(streamId, publisherId)
      const stream = cache.peekStream(streamId)
      if (permissions === undefined || stream === undefined) return 'unknown'
      if (stream === null || predates(oldestMs, stream)) return 'denied'
      return wallMs < permissions.publishUntilMs ? 'allowed' : 'denied'
    },
    async resolve(streamId, publisherId, cause) {
      await Promise.all([cache.permissionsOf(streamId, publisherId, cause), cache.getStream(streamId)])
    },
  }
}
