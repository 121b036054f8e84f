import type { RunnelClient, StreamInfo } from '@runnel/client'
import { clearUntilMs, encryptionChoiceIn } from '@runnel/protocol'
import { mediaError } from '../errors.ts'

export interface KeptKeysModules {
  readonly client: Pick<RunnelClient, 'getStorageNodes' | 'getPermissions'>
  /** The time, in Unix milliseconds. */
  readonly now: () => number
}

/**
 * Checks that what is recorded of a stream can be opened later: that it is not encrypted, or that a storage node keeps its keys, which only those
 * who are in the session have otherwise. Throws RECORDING_UNREADABLE, and errors of the registry.
 */
export async function requireKeptKeys(
  { id, metadata }: StreamInfo,
  { client, now }: KeptKeysModules,
): Promise<void> {
  const storageNodes = await client.getStorageNodes(id)
  if (storageNodes.length > 0) return
  const permissions = await client.getPermissions(id)
  const publicUntilMs = permissions.find(({ user }) => user === 'public')?.subscribeUntilMs ?? 0
  if (now() >= clearUntilMs(encryptionChoiceIn(metadata), publicUntilMs))
    throw mediaError('RECORDING_UNREADABLE', `${id} is encrypted, and no storage node keeps its keys`)
}
