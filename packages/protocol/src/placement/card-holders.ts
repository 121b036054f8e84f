import type { NodeId } from '../ids/node-id.ts'
import { highestFor } from './rendezvous.ts'

/** Storage nodes of the registry that keep the card of a user, besides those of the streams that it reads. */
export const cardHolderCount = 3

/** Which of `storageNodeIds` these are, the first one first (`highestFor`). */
export function cardHolders(userId: NodeId, storageNodeIds: readonly NodeId[]): NodeId[] {
  return highestFor(userId, storageNodeIds, cardHolderCount)
}
