import { clearUntilMs, encryptionChoiceIn } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import type { PermissionModules } from '../permission.ts'
import type { StreamInfo } from '../registry/ports.ts'
import { anybody } from '../registry/reader-policy.ts'

/**
 * Checks that a recording of one stream into another is kept, and can be opened later: the recorded stream is not encrypted, or a storage node
 * keeps its keys, which only those who are in it have otherwise. Throws NO_STORAGE_NODE, RECORDING_UNREADABLE, and errors of the registry.
 */
export async function requireKept(
  from: StreamInfo,
  to: StreamInfo,
  { cache, clock }: Pick<PermissionModules, 'cache' | 'clock'>,
): Promise<void> {
  if ((await cache.storageNodesOf(to.id)).length === 0) throw clientError('NO_STORAGE_NODE', to.id)
  if ((await cache.storageNodesOf(from.id)).length > 0) return
  const { subscribeUntilMs } = await cache.permissionsOf(from.id, anybody)
  if (clock.now() >= clearUntilMs(encryptionChoiceIn(from.metadata), subscribeUntilMs))
    throw clientError('RECORDING_UNREADABLE', `${from.id} is encrypted, and no storage node keeps its keys`)
}
