import { counter, gauge } from '../../plugins/metrics.ts'
import type { PluginMetric } from '../../plugins/plugin.ts'

/** What happened since the start; documented under `metrics`. */
export const newCounters = () => ({
  accepted: 0,
  refusedConnections: 0,
  refusedCredentials: 0,
  protocolErrors: 0,
  faults: 0,
  receivedPackets: 0,
  receivedBytes: 0,
  sentBytes: 0,
  published: 0,
  publishRefused: 0,
  subscriptionsRefused: 0,
  delivered: 0,
  slowed: 0,
  queuedBytes: 0,
  droppedQos0: 0,
  droppedQos1: 0,
  expired: 0,
  skippedRetained: 0,
  restoredSessions: 0,
  missedDelivered: 0,
  sessionWritesFailed: 0,
})

export type Counters = ReturnType<typeof newCounters>

/** Of now. */
export interface Gauges {
  readonly connections: number
  readonly sessions: number
  readonly awaySessions: number
}

/** Before the start. */
export const noGauges: Gauges = { connections: 0, sessions: 0, awaySessions: 0 }

/** For `/metrics`. */
export function metricsOf(counters: Counters, gauges: Gauges): readonly PluginMetric[] {
  return [
    gauge('connections', 'Connections of clients.', gauges.connections),
    gauge('sessions', 'Sessions, with a connection or without.', gauges.sessions),
    gauge('away_sessions', 'Sessions that wait for their clients.', gauges.awaySessions),
    gauge(
      'queued_bytes',
      'Bytes of messages that wait for clients, or for their acknowledgements.',
      counters.queuedBytes,
    ),
    counter('accepted', 'Connections whose client was let in.', counters.accepted),
    counter('refused_connections', 'Connections beyond a limit.', counters.refusedConnections),
    counter(
      'refused_credentials',
      'Connections without a good key or certificate.',
      counters.refusedCredentials,
    ),
    counter(
      'protocol_errors',
      'Connections ended because of what their client sent.',
      counters.protocolErrors,
    ),
    counter('faults', 'Connections ended by an error of the gateway.', counters.faults),
    counter('received_packets', 'Packets of clients.', counters.receivedPackets),
    counter('received_bytes', 'Bytes of clients.', counters.receivedBytes),
    counter('sent_bytes', 'Bytes sent to clients.', counters.sentBytes),
    counter('published', 'Messages of clients that were published.', counters.published),
    counter('publish_refused', 'Messages of clients that were not published.', counters.publishRefused),
    counter('subscriptions_refused', 'Filters that were not subscribed to.', counters.subscriptionsRefused),
    counter('delivered', 'Messages for clients, before what is dropped.', counters.delivered),
    counter(
      'slowed',
      'Times a client was read no further for a while, for its rate, what was under way, or answers it did not read.',
      counters.slowed,
    ),
    counter('dropped_qos0', 'Messages of QoS 0 dropped because too many waited.', counters.droppedQos0),
    counter('dropped_qos1', 'Messages of QoS 1 dropped because too many waited.', counters.droppedQos1),
    counter('expired', 'Messages dropped because they had expired.', counters.expired),
    counter(
      'skipped_retained',
      'Retained messages not looked for because too many of the account waited.',
      counters.skippedRetained,
    ),
    counter('restored_sessions', 'Sessions of a node before this one.', counters.restoredSessions),
    counter(
      'missed_delivered',
      'Messages from storage nodes that came while the node was away.',
      counters.missedDelivered,
    ),
    counter(
      'session_writes_failed',
      'Times changes of sessions could not be written, so that a restart would lose them.',
      counters.sessionWritesFailed,
    ),
  ]
}
