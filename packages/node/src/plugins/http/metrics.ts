import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import { counterHelp, gaugeHelp } from '@runnel/network'
import type { StorageStatus } from '@runnel/storage'
import type { NodeSnapshot } from '../../snapshot.ts'

/** What a Prometheus server reads. */
export interface Metrics {
  readonly contentType: string
  text(): Promise<string>
}

/** Metrics of a node, made anew from a snapshot whenever they are asked for. */
export function createMetrics(snapshot: () => NodeSnapshot): Metrics {
  const processRegistry = new Registry()
  collectDefaultMetrics({ register: processRegistry })
  const text = async () => {
    const nodeRegistry = new Registry()
    fill(nodeRegistry, snapshot())
    return Registry.merge([processRegistry, nodeRegistry]).metrics()
  }
  return { contentType: processRegistry.contentType, text }
}

/** The name a counter of the network node is served under. */
export function counterMetric(name: string): string {
  return `runnel_${snakeCase(name)}_total`
}

/** The name a gauge of the network node is served under. */
export function gaugeMetric(name: string): string {
  return `runnel_${snakeCase(name)}`
}

function fill(registry: Registry, snapshot: NodeSnapshot): void {
  const registers = [registry]
  for (const [name, help] of Object.entries(counterHelp)) {
    new Counter({ name: counterMetric(name), help, registers }).inc(snapshot.counters[name] ?? 0)
  }
  for (const [name, help] of Object.entries(gaugeHelp)) {
    new Gauge({ name: gaugeMetric(name), help, registers }).set(snapshot.counters[name] ?? 0)
  }
  const backend = { name: 'runnel_crypto_backend_info', help: 'Which cryptography is at work.' }
  new Gauge({ ...backend, labelNames: ['backend'], registers }).set({ backend: snapshot.cryptoBackend }, 1)
  fillStreamParts(registry, snapshot)
  if (snapshot.storage !== undefined) fillStorage(registry, snapshot.storage)
  const tracker = { name: 'runnel_tracker_connected', help: '1 while there is a connection to the tracker.' }
  const trackers = new Gauge({ ...tracker, labelNames: ['tracker'], registers })
  for (const { nodeId, connected } of snapshot.trackers) trackers.set({ tracker: nodeId }, connected ? 1 : 0)
}

function fillStreamParts(registry: Registry, { streamParts }: NodeSnapshot): void {
  const common = { labelNames: ['stream_part'], registers: [registry] }
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `runnel_stream_part_${name}`, help, ...common })
  const counter = (name: string, help: string) =>
    new Counter({ name: `runnel_stream_part_${name}_total`, help, ...common })
  const neighbours = gauge('neighbours', 'Neighbours in the overlay.')
  const wanted = gauge('wanted_neighbours', 'Neighbours the tracker wants.')
  const delivered = counter('delivered', 'Messages delivered to the application.')
  const duplicates = counter('duplicates', 'Redundant copies dropped.')
  const published = counter('published', 'Messages published by this node.')
  for (const part of streamParts) {
    const label = { stream_part: part.streamPartId }
    neighbours.set(label, part.neighbours.length)
    wanted.set(label, part.wantedNeighbours)
    delivered.inc(label, part.delivered)
    duplicates.inc(label, part.duplicates)
    published.inc(label, part.published)
  }
}

function fillStorage(registry: Registry, storage: StorageStatus): void {
  const registers = [registry]
  const gauge = (name: string, help: string, value: number) =>
    new Gauge({ name: `runnel_storage_${name}`, help, registers }).set(value)
  const counter = (name: string, help: string, value: number) =>
    new Counter({ name: `runnel_storage_${name}_total`, help, registers }).inc(value)
  const { ingest, requests, repair, quota } = storage
  gauge('healthy', '1 while the store is open and takes what it is given.', storage.isHealthy ? 1 : 0)
  gauge('stream_parts', 'Stream parts kept.', storage.streamParts)
  gauge('ignored_stream_parts', 'Assigned stream parts not kept: too many.', storage.ignoredStreamParts)
  gauge('unwelcome_streams', 'Assigned streams not kept: of owners not wanted.', storage.unwelcomeStreams)
  gauge('stored_bytes', 'Bytes of batches in the store, about.', quota.storedBytes)
  gauge('max_stored_bytes', 'And how many there may be.', quota.maxBytes)
  counter('evicted_batches', 'Batches deleted to make room for others.', quota.evictedBatches)
  counter('evicted_bytes', 'Bytes of those.', quota.evictedBytes)
  counter(
    'contradictions',
    'Batches that contradicted a stored one of the same place.',
    storage.contradictions,
  )
  gauge('queued_batches', 'Batches that wait to be stored.', ingest.queuedBatches)
  gauge('queued_bytes', 'Bytes of batches that wait to be stored.', ingest.queuedBytes)
  gauge('lag_seconds', 'How long the oldest of them has waited.', ingest.lagMs / 1000)
  counter('stored_batches', 'Batches stored as they came.', ingest.storedBatches)
  counter('stored_messages', 'Messages stored as they came.', ingest.storedMessages)
  counter('dropped_batches', 'Batches not stored because too many waited.', ingest.droppedBatches)
  counter('store_failures', 'Times the store did not take what it was given.', ingest.failures)
  counter('faults', 'Stream parts whose batches were dropped because of a fault.', ingest.faults)
  gauge('requests_active', 'Requests over links being served.', requests.active)
  gauge('requests_awaited', 'Messages that others wait for to be stored.', requests.awaited)
  counter('requests_served', 'Requests over links served to their end.', requests.served)
  counter('requests_failed', 'Requests over links that ended with an error.', requests.failed)
  counter('requests_refused', 'Requests over links refused because there were too many.', requests.refused)
  counter('requests_cancelled', 'Requests over links that their asker ended.', requests.cancelled)
  counter('sent_batches', 'Batches sent in answer to requests over links.', requests.sentBatches)
  counter('sent_bytes', 'Bytes of batches sent in answer to requests over links.', requests.sentBytes)
  gauge('incomplete_parts', 'Stream parts that may miss something.', repair.incompleteParts)
  gauge('repair_gaps', 'Message chains of which something is asked of other storage nodes.', repair.gaps)
  counter(
    'repair_gaps_refused',
    'Gaps not asked for: too old, asked for before, or too many.',
    repair.refusedGaps,
  )
  counter('repaired_batches', 'Batches copied from other storage nodes.', repair.copiedBatches)
  counter(
    'repair_refused_batches',
    'Batches of other storage nodes that were not genuine.',
    repair.refusedBatches,
  )
  counter('repair_failures', 'Times another storage node could not be copied from.', repair.failures)
  counter('pruned_batches', 'Batches deleted because they were beyond the retention.', storage.prunedBatches)
}

function snakeCase(name: string): string {
  return name.replace(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase()
}
