/** Every limit and duration of the trackers' cluster. */
export interface ClusterLimits {
  /** Other trackers linked at once, the lowest ids first. */
  readonly maxTrackers: number
  /** How often the links to the others are checked, in milliseconds. */
  readonly reviewIntervalMs: number
  /** First pause before a tracker that could not be reached is dialled again, in milliseconds; doubles each time. */
  readonly minRetryMs: number
  /** Longest such pause, in milliseconds. */
  readonly maxRetryMs: number
  /** How long the tracker with the higher id waits for the other one to dial, in milliseconds, to avoid two connections. */
  readonly dialPatienceMs: number
  /** How long a tracker may take to report its address in the cluster, in milliseconds. */
  readonly discoveryTimeoutMs: number
  /** Largest report of an address. */
  readonly maxDiscoveryBytes: number
  /** Addresses of one tracker that are dialled. */
  readonly maxAddresses: number
  /** How long a dial may take, in milliseconds. */
  readonly dialTimeoutMs: number
  /** A linked tracker is pinged this often, in milliseconds. */
  readonly pingIntervalMs: number
  /** A linked tracker counts as down when it does not answer for this long, in milliseconds. */
  readonly pingTimeoutMs: number
  /** The largest record. */
  readonly maxRecordBytes: number
  /** Records of one tracker that are kept; further ones are refused (`recordsTooMany`). */
  readonly maxRecordsPerTracker: number
  /** Bytes of these records. */
  readonly maxRecordBytesPerTracker: number
  /** Bytes of the store under the hash table; the oldest entries are dropped first (`storeEvictions`). */
  readonly maxStoreBytes: number
  /** Longest lifetime of a record, in milliseconds. */
  readonly maxRecordLifetimeMs: number
  /** How far ahead another tracker's clock may be, in milliseconds. */
  readonly clockToleranceMs: number
  /** How often a tracker reports that it is alive, in milliseconds. */
  readonly aliveIntervalMs: number
  /** How long such a report is valid, in milliseconds. */
  readonly aliveLifetimeMs: number
  /** Lifetime of an overlay's replica, in milliseconds; it is written again after half of that. */
  readonly replicaLifetimeMs: number
  /** Changes of an overlay are collected for this long before they are replicated, in milliseconds. */
  readonly gatherMs: number
  /** Shortest time between two replications of one overlay, in milliseconds. */
  readonly replicaIntervalMs: number
  /** Records written a second, on average; overlays wait for their turn (`writesDelayed`). */
  readonly recordsPerSecond: number
  /** Records written in one burst. */
  readonly recordBurst: number
  /** Writes in progress at once. */
  readonly maxWritesAtOnce: number
  /** How long a write may take, in milliseconds. */
  readonly writeTimeoutMs: number
  /** How long a replica is looked for, in milliseconds. */
  readonly readTimeoutMs: number
  /** Nodes in one chunk of an overlay, on average. */
  readonly nodesPerChunk: number
  /** Chunks of one overlay. */
  readonly maxChunks: number
  /** An earlier tracker gets its stream parts back once it has been linked for this long, in milliseconds. */
  readonly handOverAfterMs: number
  /**
   * Circuits between two trackers, in each direction; further ones are refused. Higher than a tracker's number of
   * connections, so that the connections are shared out first.
   */
  readonly maxCircuits: number
  /** Bytes that wait at either end of a circuit; above it the circuit is closed. */
  readonly maxCircuitQueueBytes: number
  /** Streams whose own trackers are remembered. */
  readonly maxStreams: number
  /** Streams looked up in the registry at once; further ones count as naming no trackers (`lookupsRefused`). */
  readonly maxLookups: number
  /** How long a stream's own trackers are remembered, in milliseconds. */
  readonly streamLifetimeMs: number
}

export const defaultClusterLimits: ClusterLimits = {
  maxTrackers: 64,
  reviewIntervalMs: 500,
  minRetryMs: 500,
  maxRetryMs: 15_000,
  dialPatienceMs: 1_000,
  discoveryTimeoutMs: 3_000,
  maxDiscoveryBytes: 65_536,
  maxAddresses: 8,
  dialTimeoutMs: 5_000,
  pingIntervalMs: 1_000,
  pingTimeoutMs: 2_000,
  maxRecordBytes: 65_536,
  maxRecordsPerTracker: 200_000,
  maxRecordBytesPerTracker: 16 * 1024 * 1024,
  maxStoreBytes: 256 * 1024 * 1024,
  maxRecordLifetimeMs: 3_600_000,
  clockToleranceMs: 300_000,
  aliveIntervalMs: 5_000,
  aliveLifetimeMs: 20_000,
  replicaLifetimeMs: 1_800_000,
  gatherMs: 100,
  replicaIntervalMs: 1_000,
  recordsPerSecond: 100,
  recordBurst: 1_000,
  maxWritesAtOnce: 8,
  writeTimeoutMs: 3_000,
  readTimeoutMs: 1_000,
  nodesPerChunk: 128,
  maxChunks: 256,
  handOverAfterMs: 500,
  maxCircuits: 40_000,
  maxCircuitQueueBytes: 1024 * 1024,
  maxStreams: 100_000,
  maxLookups: 256,
  streamLifetimeMs: 60_000,
}
