import type { NodeId, StreamId } from '@runnel/protocol'

/** Where a tracker is. */
export interface TrackerPlace {
  readonly nodeId: NodeId
  readonly url: string
}

/** A network without a chain, as a network file holds it: one tracker, and one stream that is everybody's. */
export function networkDocument(
  tracker: TrackerPlace,
  stream: { readonly id: StreamId; readonly partitions?: number },
) {
  const permissions = [{ user: 'public', publish: true, subscribe: true }]
  return { version: 1, trackers: [tracker], streams: [{ ...stream, permissions }] }
}
