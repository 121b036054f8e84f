import type { NodeId, StreamId } from '@runnel/protocol'

/** A tracker as it stands in the registry. */
export interface RegisteredTracker {
  readonly nodeId: NodeId
  /** What nodes dial; its HTTP API is at the same place. */
  readonly url: string
}

/** What the registry says of trackers. Everything in it is what others wrote. */
export interface TrackerRegistryView {
  /** All of them, this one among them when it is registered. */
  readonly trackers: readonly RegisteredTracker[]
  /** Calls back when `trackers` is another list than before. Returns what ends that. */
  onChange(listener: () => void): () => void
  /** The trackers a stream names; empty for the network's, or when there is no such stream. Rejects when nobody can say. */
  ownTrackers(streamId: StreamId): Promise<readonly NodeId[]>
}
