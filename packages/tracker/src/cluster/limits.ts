/** What is bounded, and what takes a while, in the trackers' cluster. */
export interface ClusterLimits {
  /** Other trackers that are linked at once; those whose ids come first count. */
  readonly maxTrackers: number
  /** How often the links to the others are looked after, in milliseconds. */
  readonly reviewIntervalMs: number
  /** The first pause before a tracker that could not be reached is tried again, in milliseconds; it doubles… */
  readonly minRetryMs: number
  /** … up to this. */
  readonly maxRetryMs: number
  /** How long the tracker with the higher id leaves dialling to the other one, in milliseconds: two connections at once are one too many. */
  readonly dialPatienceMs: number
  /** How long a tracker may take to tell its address in the cluster, in milliseconds. */
  readonly discoveryTimeoutMs: number
  /** The longest such answer. */
  readonly maxDiscoveryBytes: number
  /** Addresses of one tracker that are tried. */
  readonly maxAddresses: number
  /** How long a dial may take, in milliseconds. */
  readonly dialTimeoutMs: number
  /** A linked tracker is pinged this often, in milliseconds. */
  readonly pingIntervalMs: number
  /** And is gone when it does not answer for this long. */
  readonly pingTimeoutMs: number
  /** The largest record. */
  readonly maxRecordBytes: number
  /** Records of one tracker that are kept; more are refused (`recordsTooMany`). */
  readonly maxRecordsPerTracker: number
  /** And their bytes. */
  readonly maxRecordBytesPerTracker: number
  /** Bytes of the store under the hash table; the oldest entries go first (`storeEvictions`). */
  readonly maxStoreBytes: number
  /** No record lasts longer, in milliseconds. */
  readonly maxRecordLifetimeMs: number
  /** How far ahead another tracker's clock may be, in milliseconds. */
  readonly clockToleranceMs: number
  /** How often a tracker says that it is alive, in milliseconds. */
  readonly aliveIntervalMs: number
  /** How long that is believed, in milliseconds. */
  readonly aliveLifetimeMs: number
  /** How long a replica of an overlay lasts, in milliseconds; it is written again after half of that. */
  readonly replicaLifetimeMs: number
  /** Changes of an overlay gather this long before they are replicated, in milliseconds. */
  readonly gatherMs: number
  /** One overlay is replicated at most once in this time, in milliseconds. */
  readonly replicaIntervalMs: number
  /** Records written, on average; overlays wait for their turn (`writesDelayed`). */
  readonly recordsPerSecond: number
  /** And how many at once. */
  readonly recordBurst: number
  /** Records on their way to the others at once. */
  readonly maxWritesAtOnce: number
  /** How long a write may take, in milliseconds. */
  readonly writeTimeoutMs: number
  /** How long a replica is looked for, in milliseconds. */
  readonly readTimeoutMs: number
  /** Nodes in one record of an overlay, on average. */
  readonly nodesPerChunk: number
  /** Records of one overlay. */
  readonly maxChunks: number
  /** An earlier tracker gets its stream parts back when it has been linked for this long, in milliseconds. */
  readonly handOverAfterMs: number
  /** Circuits between two trackers, in each direction; more are refused. More than a tracker has connections, so that those are shared out first. */
  readonly maxCircuits: number
  /** Bytes that wait at either end of a circuit; with more it is closed. */
  readonly maxCircuitQueueBytes: number
  /** Streams whose own trackers are remembered. */
  readonly maxStreams: number
  /** Streams looked up in the registry at once; more are taken to name no trackers (`lookupsRefused`). */
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
