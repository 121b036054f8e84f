import type { PublisherPolicy } from '@runnel/network'
import { publishesUntilMs, streamOfScope, type Delegation, type PermissionScope } from '@runnel/protocol'
import type { Permissions } from './ports.ts'
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
        isAskedAtOnce(delegation, scope, cache.peekPermissions(streamId, publisherId))
          ? // What fails is asked again below, for those to whom it matters.
            delegations.resolve(delegation, cause).catch(() => {})
          : undefined,
      ])
      if (delegation !== undefined && publishesUntilMs(permissions, scope) > 0)
        await delegations.resolve(delegation, cause)
    },
  }
}

/**
 * Whether a delegation is asked about while it is not known yet what its user may: that saves a round trip at each hop. Nothing is asked
 * for those who are known not to publish; and no contract before its user is known to, as it is code of somebody’s.
 */
function isAskedAtOnce(
  delegation: Delegation | undefined,
  scope: PermissionScope,
  known: Permissions | undefined,
): delegation is Delegation {
  return delegation?.block === 0 && (known === undefined || publishesUntilMs(known, scope) > 0)
}
