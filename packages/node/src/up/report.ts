import { parseStreamPartId, toStreamPartId, type NodeId, type StreamPartId } from '@runnel/protocol'
import type { LatencySummary } from '../plugins/observer/latency-histogram.ts'
import type { StorageStatus } from '@runnel/storage'
import type { NodeSnapshot, ObservedChain, PublishedTotals } from '../snapshot.ts'
import { isOverlayComplete, neighboursOf } from './overlay-state.ts'

/** What became of one node in a run. */
export interface NodeReport {
  readonly id: NodeId
  /** `publisher` or `subscriber`. */
  readonly role: 'publisher' | 'subscriber'
  /** Kinds of link it had, such as `websocket`. */
  readonly transport: readonly string[]
  /** Neighbours by stream part. */
  readonly degree: Readonly<Record<string, number>>
  readonly delivered: number
  /** Redundant copies that arrived over the overlay and were dropped, as flooding makes them. */
  readonly duplicates: number
  /** Messages given to the application more than once: must be 0. */
  readonly repeated: number
  readonly missing: number
  readonly latencyMs: LatencySummary | null
}

/** What became of the storage node in a run. */
interface StorageReport {
  readonly id: NodeId
  /** As they came over the network. */
  readonly storedMessages: number
  /** That have arrived and are not stored. */
  readonly queuedBatches: number
  /** How long the oldest of them has waited. */
  readonly lagMs: number
  /** Batches it had no room for. */
  readonly droppedBatches: number
}

/** The outcome of `runnel up --for …`. */
export interface UpReport {
  readonly complete: boolean
  readonly degreesExact: boolean
  readonly messagesPublished: number
  readonly startedInMs: number
  /** Time the publisher published. */
  readonly publishedForMs: number
  readonly trackers: readonly { readonly id: NodeId; readonly url: string }[]
  readonly nodes: readonly NodeReport[]
  readonly storage: readonly StorageReport[]
  /** Processes that ended by themselves, and how. */
  readonly died: readonly string[]
}

export interface ReportInput {
  readonly publisher: NodeSnapshot
  readonly subscribers: readonly NodeSnapshot[]
  readonly storage: readonly NodeSnapshot[]
  readonly published: readonly PublishedTotals[]
  /** Stream parts the messages went through. */
  readonly streamPartIds: readonly StreamPartId[]
  readonly degreesExact: boolean
  readonly startedInMs: number
  readonly publishedForMs: number
  readonly trackers: UpReport['trackers']
  readonly died: readonly string[]
}

/** Judges a run: complete only if there were messages, every subscriber got every one exactly once, and all are stored. */
export function buildReport(input: ReportInput): UpReport {
  const { publisher, subscribers, published, died } = input
  const messagesPublished = published.reduce((sum, { messages }) => sum + messages, 0)
  const nodes = [
    describeNode('publisher', publisher, input, { delivered: 0, repeated: 0, missing: 0 }),
    ...subscribers.map((snapshot) =>
      describeNode('subscriber', snapshot, input, accountFor(snapshot, publisher.nodeId, published)),
    ),
  ]
  const complete =
    messagesPublished > 0 &&
    died.length === 0 &&
    subscribers.length > 0 &&
    subscribers.every((snapshot) => hasEverything(snapshot, publisher.nodeId, published)) &&
    input.storage.every(({ plugins: { storage } }) => storage !== undefined && hasStored(storage, published))
  const { degreesExact, startedInMs, publishedForMs, trackers } = input
  const storage = input.storage.flatMap(describeStorage)
  return {
    ...{ complete, degreesExact, messagesPublished, startedInMs, publishedForMs },
    ...{ trackers, nodes, storage, died },
  }
}

function describeStorage({ nodeId: id, plugins: { storage } }: NodeSnapshot): StorageReport[] {
  if (storage === undefined) return []
  const { storedMessages, queuedBatches, lagMs, droppedBatches } = storage.ingest
  return [{ id, storedMessages, queuedBatches, lagMs, droppedBatches }]
}

/** Whether as many messages were stored as were published, and none waits. */
export function hasStored({ ingest }: StorageStatus, published: readonly PublishedTotals[]): boolean {
  return ingest.queuedBatches === 0 && ingest.storedMessages >= sum(published, ({ messages }) => messages)
}

/** Whether a subscriber got every message of the publisher exactly once, by count and by the last of each stream. */
export function hasEverything(
  snapshot: NodeSnapshot,
  publisherId: NodeId,
  published: readonly PublishedTotals[],
): boolean {
  const { repeated, missing } = accountFor(snapshot, publisherId, published)
  return (
    repeated === 0 && missing === 0 && published.every((totals) => hasLast(snapshot, publisherId, totals))
  )
}

function hasLast(snapshot: NodeSnapshot, publisherId: NodeId, { streamId, last }: PublishedTotals): boolean {
  if (last === undefined) return true
  return chainsOf(snapshot, publisherId, streamId).some(
    (chain) => chain.last?.timestamp === last.timestamp && chain.last.sequenceNumber === last.sequenceNumber,
  )
}

interface Account {
  readonly delivered: number
  readonly repeated: number
  readonly missing: number
}

/** Per stream, so that too many of one stream cannot make up for too few of another. */
function accountFor(
  snapshot: NodeSnapshot,
  publisherId: NodeId,
  published: readonly PublishedTotals[],
): Account {
  const account = { delivered: 0, repeated: 0, missing: 0 }
  for (const { streamId, messages } of published) {
    const chains = chainsOf(snapshot, publisherId, streamId)
    const delivered = sum(chains, (chain) => chain.delivered)
    account.delivered += delivered
    account.repeated +=
      sum(chains, (chain) => chain.repeated + chain.tooOld) + Math.max(0, delivered - messages)
    account.missing += Math.max(0, messages - delivered)
  }
  return account
}

function chainsOf(snapshot: NodeSnapshot, publisherId: NodeId, streamId: string): ObservedChain[] {
  return (snapshot.plugins.observer?.observed ?? []).filter(
    (chain) =>
      chain.publisherId === publisherId && parseStreamPartId(chain.streamPartId).streamId === streamId,
  )
}

function describeNode(
  role: NodeReport['role'],
  snapshot: NodeSnapshot,
  { streamPartIds }: ReportInput,
  account: Account,
): NodeReport {
  const parts = snapshot.streamParts.filter((part) => streamPartIds.includes(part.streamPartId))
  const transports = parts.flatMap((part) => part.neighbours.map((neighbour) => neighbour.transport))
  const degree = streamPartIds.map((id) => [id, neighboursOf(snapshot, id).size] as const)
  return {
    id: snapshot.nodeId,
    role,
    transport: [...new Set(transports)].toSorted(),
    degree: Object.fromEntries(degree),
    duplicates: sum(parts, (part) => part.duplicates),
    ...account,
    latencyMs: snapshot.plugins.observer?.latencyMs ?? null,
  }
}

/** Whether every overlay the messages go through is as a tracker would build it. */
export function areDegreesExact(
  snapshots: readonly NodeSnapshot[],
  streamPartIds: readonly StreamPartId[],
  degree: number,
): boolean {
  return streamPartIds.every((id) => isOverlayComplete(snapshots, id, degree))
}

/** The one stream part of a stream that has a single partition. */
export function onlyPartOf(streamId: PublishedTotals['streamId']): StreamPartId {
  return toStreamPartId(streamId, 0)
}

function sum<T>(items: readonly T[], valueOf: (item: T) => number): number {
  return items.reduce((total, item) => total + valueOf(item), 0)
}
