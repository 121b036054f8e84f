import {
  epochChain,
  epochIdOf,
  isSameBytes,
  newestChain,
  type EpochRecord,
  type NodeId,
} from '@runnel/protocol'
import type { KeyPart } from './key-part.ts'

/**
 * The epoch that an opener says is its newest; undefined where it has none, or its record cannot be found. Throws what the registry throws,
 * and ABORTED. Calls `onSilent` where storage nodes may have one, and do not answer, or refuse.
 */
export async function newestEpochOf(
  openerId: NodeId,
  keyPart: Pick<KeyPart, 'find'>,
  signal: AbortSignal,
  onSilent?: () => void,
): Promise<EpochRecord | undefined> {
  const newest = await keyPart.find(openerId, newestChain, signal, onSilent)
  if (newest?.kind !== 'newest') return undefined
  const record = await keyPart.find(openerId, epochChain(epochIdOf(newest.commitment)), signal, onSilent)
  return record?.kind === 'epoch' && isSameBytes(record.commitment, newest.commitment) ? record : undefined
}
