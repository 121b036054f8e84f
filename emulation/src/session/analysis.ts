import { mean, percentile, round } from '@runnel/sim/statistics'
import type { SessionMeasurements } from './session.ts'

/** What came of one run, over all messages at all nodes but their publisher. */
export interface MessageFigures {
  /** Deliveries that there should have been, and were not. */
  readonly expected: number
  readonly missing: number
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
  /** Messages with timestamps from then on count: what came before was to warm up. */
  readonly sinceMs?: number
  /** So many times slower than the experiment's the time of the processes ran. */
  readonly dilation?: number
}

export function analyse({ nodes }: SessionMeasurements, options: AnalysisOptions = {}): MessageFigures {
  const { sinceMs = -Infinity, dilation = 1 } = options
  const before = nodes.reduce(
    (sum, { nodeId, messages }) =>
      sum + messages.filter((one) => one.publisherId === nodeId && one.timestamp < sinceMs).length,
    0,
  )
  const published = nodes.reduce((sum, node) => sum + node.published, 0) - before
  const received = nodes.flatMap(({ nodeId, messages }) =>
    messages.filter(({ publisherId, timestamp }) => publisherId !== nodeId && timestamp >= sinceMs),
  )
  const delaysMs = received.flatMap(({ ageMs }) => (ageMs === null ? [] : [ageMs / dilation]))
  const hops = received.flatMap((message) => (message.hops === null ? [] : [message.hops]))
  const expected = published * (nodes.length - 1)
  const delivered = nodes.reduce((sum, node) => sum + node.delivered, 0)
  const duplicates = received.reduce((sum, message) => sum + message.duplicates, 0)
  return {
    expected,
    missing: expected - received.length,
    undelivered: (published + before) * nodes.length - delivered,
    delaysMs,
    meanMs: round(mean(delaysMs) ?? 0),
    p50Ms: round(percentile(delaysMs, 0.5) ?? 0),
    p95Ms: round(percentile(delaysMs, 0.95) ?? 0),
    p99Ms: round(percentile(delaysMs, 0.99) ?? 0),
    maxMs: round(percentile(delaysMs, 1) ?? 0),
    meanHops: round(mean(hops) ?? 0),
    maxHops: percentile(hops, 1) ?? 0,
    duplicatesPerMessage: round(duplicates / Math.max(1, received.length)),
    wallMeanMs: round(mean(received.map(({ wallAgeMs }) => wallAgeMs / dilation)) ?? 0),
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
