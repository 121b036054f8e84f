import type { RunnelClient } from '@runnel/client'
import { isRunnelError } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { timeLimit } from '../load/time-limit.ts'
import { usesGateway, type Doing } from '../core/plan.ts'
import { withOneClient } from './one-client.ts'
import type { Target } from './target.ts'

/** How long trackers may take to answer. */
const answerTimeoutMs = 15_000

/**
 * Tries with a single node what hundreds will do in a network that runs. Throws NO_SUBSCRIBE_PERMISSION, NO_PUBLISH_PERMISSION,
 * TRACKER_UNREACHABLE where no tracker answers in time, and what registries and trackers throw.
 */
export function requireAdmission(
  target: Pick<Target, 'source' | 'user' | 'parts'>,
  doing: Doing,
): Promise<void> {
  return withOneClient(target, async (client) => {
    const { streamId = '' } = target.parts[0] ?? {}
    // A gateway knows by itself what its users may do.
    if (!usesGateway(doing.kind)) await requirePermissions(client, streamId, doing)
    await client.joinStreamPart(streamId, 0)
    await requireTracker(client, streamId)
  })
}

async function requirePermissions(client: RunnelClient, streamId: string, doing: Doing): Promise<void> {
  const { subscribes, history, publishersPerPart } = doing
  if (subscribes || history > 0) await client.subscribe(streamId, { partitions: [0] }, () => {})
  // It publishes nothing, and needs the same permission; what history is made of is published here.
  if (publishersPerPart > 0 || history > 0) await client.urgentRate(streamId)
}

async function requireTracker(client: RunnelClient, streamId: string): Promise<void> {
  const limit = timeLimit(answerTimeoutMs)
  try {
    await client.count(streamId, { signal: limit.signal })
  } catch (cause) {
    if (isRunnelError(cause) && !limit.signal.aborted) throw cause
    throw nodeError('TRACKER_UNREACHABLE', 'no tracker answered', { cause })
  } finally {
    limit.end()
  }
}
