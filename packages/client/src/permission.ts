import type { Clock, StreamId } from '@runnel/protocol'
import { clientErrorWithRemedy, streamNotFound } from './errors.ts'
import type { ActingUser } from './identity/acting-user.ts'
import type { StreamInfo } from './registry/ports.ts'
import type { RegistryCache } from './registry/registry-cache.ts'

/**
 * The stream, if it exists and the user may publish or subscribe now, and lets this client. Throws a DELEGATION_ code,
 * STREAM_NOT_FOUND, NO_PUBLISH_PERMISSION, NO_SUBSCRIBE_PERMISSION, or what the registry throws when nothing is known.
 */
export async function requirePermission(
  wanted: 'publish' | 'subscribe',
  streamId: StreamId,
  { user, cache, clock }: { user: Pick<ActingUser, 'userId' | 'require'>; cache: RegistryCache; clock: Clock },
): Promise<StreamInfo> {
  const { userId } = user
  user.require(wanted === 'publish' ? 'publishes' : 'reads', streamId)
  const [stream, permissions] = await Promise.all([
    cache.getStream(streamId),
    cache.permissionsOf(streamId, userId),
  ])
  if (stream === undefined) throw streamNotFound(streamId)
  const untilMs = wanted === 'publish' ? permissions.publishUntilMs : permissions.subscribeUntilMs
  if (clock.now() < untilMs) return stream
  const code = wanted === 'publish' ? 'NO_PUBLISH_PERMISSION' : 'NO_SUBSCRIBE_PERMISSION'
  const when = untilMs > 0 ? `; it ended at ${new Date(untilMs).toISOString()}` : ''
  throw clientErrorWithRemedy(
    code,
    `${userId} on ${streamId}${when}`,
    `Someone with the grant permission runs: runnel stream grant ${streamId} ${userId} ${wanted}; ` +
      `or calls client.grant('${streamId}', { user: '${userId}', permissions: ['${wanted}'] }).`,
  )
}
