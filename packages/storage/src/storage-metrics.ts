import type { Metric } from './ports.ts'
import type { StorageStatus } from './storage-status.ts'

/** What a storage node counts and measures. */
export function storageMetrics(storage: StorageStatus): Metric[] {
  const { ingest, requests, repair, quota, cards } = storage
  return [
    gauge('healthy', '1 while the store is open and takes what it is given.', storage.isHealthy ? 1 : 0),
    gauge('stream_parts', 'Stream parts kept.', storage.streamParts),
    gauge('ignored_stream_parts', 'Assigned stream parts not kept: too many.', storage.ignoredStreamParts),
    gauge('unwelcome_streams', 'Assigned streams not kept: of owners not wanted.', storage.unwelcomeStreams),
    gauge('stored_bytes', 'Bytes of batches in the store, about.', quota.storedBytes),
    gauge('max_stored_bytes', 'And how many there may be.', quota.maxBytes),
    counter('evicted_batches', 'Batches deleted to make room for others.', quota.evictedBatches),
    counter('evicted_bytes', 'Bytes of those.', quota.evictedBytes),
    counter(
      'contradictions',
      'Batches that contradicted a stored one of the same place.',
      storage.contradictions,
    ),
    gauge('queued_batches', 'Batches that wait to be stored.', ingest.queuedBatches),
    gauge('queued_bytes', 'Bytes of batches that wait to be stored.', ingest.queuedBytes),
    gauge('lag_seconds', 'How long the oldest of them has waited.', ingest.lagMs / 1000),
    counter('stored_batches', 'Batches stored as they came.', ingest.storedBatches),
    counter('stored_messages', 'Messages stored as they came.', ingest.storedMessages),
    counter('dropped_batches', 'Batches not stored because too many waited.', ingest.droppedBatches),
    counter('store_failures', 'Times the store did not take what it was given.', ingest.failures),
    counter('faults', 'Stream parts whose batches were dropped because of a fault.', ingest.faults),
    gauge('requests_active', 'Requests over links being served.', requests.active),
    gauge('requests_awaited', 'Messages that others wait for to be stored.', requests.awaited),
    counter('requests_served', 'Requests over links served to their end.', requests.served),
    counter('requests_failed', 'Requests over links that ended with an error.', requests.failed),
    counter('requests_refused', 'Requests over links refused because there were too many.', requests.refused),
    counter('requests_cancelled', 'Requests over links that their asker ended.', requests.cancelled),
    counter('sent_batches', 'Batches sent in answer to requests over links.', requests.sentBatches),
    counter('sent_bytes', 'Bytes of batches sent in answer to requests over links.', requests.sentBytes),
    gauge('incomplete_parts', 'Stream parts that may miss something.', repair.incompleteParts),
    gauge('repair_gaps', 'Message chains of which something is asked of other storage nodes.', repair.gaps),
    counter(
      'repair_gaps_refused',
      'Gaps not asked for: too old, asked for before, or too many.',
      repair.refusedGaps,
    ),
    counter('repaired_batches', 'Batches copied from other storage nodes.', repair.copiedBatches),
    counter(
      'repair_refused_batches',
      'Batches of other storage nodes that were not genuine.',
      repair.refusedBatches,
    ),
    counter('repair_failures', 'Times another storage node could not be copied from.', repair.failures),
    counter('cards_kept', 'Cards of users that were new, or newer than the one before.', cards.kept),
    counter('cards_refused', 'Cards that were forged or old, or found no room.', cards.refused),
    counter('cards_evicted', 'Cards deleted because there were too many.', cards.evicted),
    counter(
      'card_requests_refused',
      'Requests about cards refused because there were too many.',
      cards.refusedRequests,
    ),
    counter(
      'pruned_batches',
      'Batches deleted because they were beyond the retention.',
      storage.prunedBatches,
    ),
  ]
}

function gauge(name: string, help: string, value: number): Metric {
  return { type: 'gauge', name, help, value }
}

function counter(name: string, help: string, value: number): Metric {
  return { type: 'counter', name, help, value }
}
