import { mean, percentile, round } from '@runnel/sim/statistics'
import { emulationError } from '../errors.ts'
import type { SessionMeasurements } from './session.ts'

/** What came of one run, over all messages at all nodes but their publisher. */
export interface MessageFigures {
  /** Deliveries that there should have been, and those of them that nobody reports: a node that was restarted reports none. */
  readonly expected: number
  readonly missing: number
  /** Nodes that answered with another id than they had: processes that ended and were started anew. */
  readonly restarted: number
  /** Messages that applications were not given, though their nodes had them. */
  readonly undelivered: number
  readonly delaysMs: readonly number[]
  readonly meanMs: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly meanHops: number
  readonly maxHops: number
  readonly duplicatesPerMessage: number
  /** Mean delay by the timestamps of messages and the wall clocks of receivers, for comparison. */
  readonly wallMeanMs: number
  /** Messages without a known age: they came from the cache of a node that does not measure. */
  readonly untraced: number
}

export interface AnalysisOptions {
  /** Messages that were to be published by all nodes, of those that count. */
  readonly published: number
  /** Those before. */
  readonly publishedBefore?: number
  /** Messages with timestamps from then on count: what came before was to warm up. */
  readonly sinceMs?: number
}

/** Throws MEASUREMENTS_DROPPED where a node had more messages than it remembers: these would look like lost ones. */
export function analyse(
  { nodes, restarted }: SessionMeasurements,
  { published, publishedBefore = 0, sinceMs = -Infinity }: AnalysisOptions,
): MessageFigures {
  const dropped = nodes.reduce((sum, node) => sum + node.dropped, 0)
  if (dropped > 0) throw emulationError('MEASUREMENTS_DROPPED', `${dropped} at all nodes together`)
  const all = nodes.length + restarted
  const received = nodes.flatMap(({ nodeId, messages }) =>
    messages.filter(({ publisherId, timestamp }) => publisherId !== nodeId && timestamp >= sinceMs),
  )
  const delaysMs = received.flatMap(({ ageMs }) => (ageMs === null ? [] : [ageMs]))
  const hops = received.flatMap((message) => (message.hops === null ? [] : [message.hops]))
  const expected = published * (all - 1)
  const delivered = nodes.reduce((sum, node) => sum + node.delivered, 0)
  const duplicates = received.reduce((sum, message) => sum + message.duplicates, 0)
  return {
    expected,
    missing: expected - received.length,
    restarted,
    undelivered: (published + publishedBefore) * all - delivered,
    delaysMs,
    meanMs: round(mean(delaysMs) ?? 0),
    p50Ms: round(percentile(delaysMs, 0.5) ?? 0),
    p95Ms: round(percentile(delaysMs, 0.95) ?? 0),
    p99Ms: round(percentile(delaysMs, 0.99) ?? 0),
    maxMs: round(percentile(delaysMs, 1) ?? 0),
    meanHops: round(mean(hops) ?? 0),
    maxHops: percentile(hops, 1) ?? 0,
    duplicatesPerMessage: round(duplicates / Math.max(1, received.length)),
    wallMeanMs: round(mean(received.map(({ wallAgeMs }) => wallAgeMs)) ?? 0),
    untraced: received.length - delaysMs.length,
  }
}

/** The largest clock error of the machines; null when none reports it. */
export function worstClockErrorMs({ nodes, tracker }: SessionMeasurements): number | null {
  const errors = [...nodes, tracker].map(({ clock }) => clock.errorMs)
  return errors.some((errorMs) => errorMs === null)
    ? null
    : Math.max(...errors.map((errorMs) => errorMs ?? 0))
}
