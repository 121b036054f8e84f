import type { StorageStatus } from './storage-status.ts'

/** Of a storage node with nothing in it, and where nothing has happened. */
export const idleStorageStatus: StorageStatus = {
  ...{ location: 'x', isHealthy: true, streamParts: 0, ignoredStreamParts: 0, prunedBatches: 0 },
  ...{ unwelcomeStreams: 0, contradictions: 0 },
  quota: { storedBytes: 0, maxBytes: 1, maxBytesPerStream: 1, evictedBatches: 0, evictedBytes: 0 },
  ingest: {
    ...{ queuedBatches: 0, queuedBytes: 0, lagMs: 0, storedBatches: 0, storedMessages: 0 },
    ...{ droppedBatches: 0, failures: 0, faults: 0 },
  },
  requests: {
    ...{ active: 0, served: 0, failed: 0, refused: 0, cancelled: 0, sentBatches: 0, sentBytes: 0 },
    awaited: 0,
  },
  cards: { kept: 0, refused: 0, evicted: 0, refusedRequests: 0 },
  repair: { gaps: 0, refusedGaps: 0, incompleteParts: 0, copiedBatches: 0, refusedBatches: 0, failures: 0 },
}
