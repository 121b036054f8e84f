import type { NodeId } from '../ids/node-id.ts'
import type { StreamPartId } from '../ids/stream-id.ts'
import { highestFor } from './rendezvous.ts'

/** The trackers that are responsible for a stream part, the first one first: at most `count` of `trackerIds` (`highestFor`). */
export function responsibleTrackers(
  streamPartId: StreamPartId,
  trackerIds: readonly NodeId[],
  count = 1,
): NodeId[] {
  return highestFor(streamPartId, trackerIds, count)
}
