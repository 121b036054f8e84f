import type { NodeId, StreamId } from '@runnel/protocol'

/** A tracker as listed in the registry. */
export interface RegisteredTracker {
  readonly nodeId: NodeId
  /** The URL that nodes dial; its HTTP API has the same host and port. */
  readonly url: string
}

/** What the registry says of trackers. All of it is input from others. */
export interface TrackerRegistryView {
  /** All of them, including this one when it is registered. */
  readonly trackers: readonly RegisteredTracker[]
  /** Calls back when `trackers` has changed. Returns a function that stops that. */
  onChange(listener: () => void): () => void
  /** The trackers a stream names; empty for the network's, or when there is no such stream. Rejects when there is no answer. */
  ownTrackers(streamId: StreamId): Promise<readonly NodeId[]>
}
