import { protocolError, type Clock, type StreamId } from '@runnel/protocol'
import { noPermission, streamNotFound } from './errors.ts'
import type { ActingUser } from './identity/acting-user.ts'
import type { StreamInfo } from './registry/ports.ts'
import type { RegistryCache } from './registry/registry-cache.ts'
import type { DelegationChecks } from './registry/registry-delegations.ts'

export interface PermissionModules {
  readonly user: Pick<ActingUser, 'userId' | 'delegation' | 'require'>
  readonly cache: RegistryCache
  readonly delegations: DelegationChecks
  readonly clock: Clock
}

/**
 * The stream, if it exists and the user may publish or subscribe now, and lets this client. Throws a DELEGATION_ code,
 * STREAM_NOT_FOUND, NO_PUBLISH_PERMISSION, NO_SUBSCRIBE_PERMISSION, or what the registry throws when nothing is known.
 */
export async function requirePermission(
  wanted: 'publish' | 'subscribe',
  streamId: StreamId,
  { user, cache, delegations, clock }: PermissionModules,
): Promise<StreamInfo> {
  const { userId } = user
  user.require(wanted === 'publish' ? 'publishes' : 'reads', streamId)
  const [stream, permissions] = await Promise.all([
    cache.getStream(streamId),
    cache.permissionsOf(streamId, userId),
    requireInForce(user, delegations),
  ])
  if (stream === undefined) throw streamNotFound(streamId)
  const untilMs = wanted === 'publish' ? permissions.publishUntilMs : permissions.subscribeUntilMs
  if (clock.now() < untilMs) return stream
  const when = untilMs > 0 ? `; it ended at ${new Date(untilMs).toISOString()}` : ''
  throw noPermission(wanted, userId, streamId, when)
}

/**
 * The stream, if the user may subscribe or publish now: then it may take part in its key part. Throws as `requirePermission` does for
 * subscribing.
 */
export function requireEitherPermission(streamId: StreamId, modules: PermissionModules): Promise<StreamInfo> {
  return requirePermission('subscribe', streamId, modules).catch((error: unknown) =>
    requirePermission('publish', streamId, modules).catch(() => {
      throw error
    }),
  )
}

/** Others would drop everything that goes by a delegation that is not. */
async function requireInForce(
  { userId, delegation }: Pick<ActingUser, 'userId' | 'delegation'>,
  delegations: DelegationChecks,
): Promise<void> {
  if (delegation === undefined) return
  await delegations.resolve(delegation)
  if (delegations.check(delegation) === 'denied')
    throw protocolError(
      'DELEGATION_REVOKED',
      delegation.block === 0 ? `by ${userId}` : `or the contract ${userId} does not back it`,
    )
}
