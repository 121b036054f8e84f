/** Every counter of a node, by name. What is dropped, refused or forgotten has one; docs/metrics.md explains them. */
const counterNames = [
  'data.batches',
  'data.messages',
  'data.forwarded',
  'data.duplicates',
  'data.notJoined',
  'data.notAttached',
  'data.timestampAhead',
  'data.publisherDenied',
  'data.forged',
  'data.unsupported',
  'published.batches',
  'published.messages',
  'held.batches',
  'held.duplicates',
  'held.refused',
  'held.unresolved',
  'dedup.rangesDropped',
  'dedup.chainsDropped',
  'recent.dropped',
  'replay.batches',
  'replay.truncated',
  'replay.refused',
  'attach.notJoined',
  'attach.refused',
  'attach.full',
  'attach.repeated',
  'detach.received',
  'instruction.handled',
  'instruction.stale',
  'instruction.notJoined',
  'peers.misbehaved',
  'peers.bansDropped',
  'links.failed',
  'links.lost',
  'send.refused',
  'status.sent',
  'status.failuresDropped',
  'tracker.failed',
  'tracker.lost',
  'tracker.refused',
  'tracker.unexpected',
  'signal.refused',
  'signal.routesDropped',
  'listener.failed',
] as const

export type CounterName = (typeof counterNames)[number]
export type Counters = Record<CounterName, number>

export function newCounters(): Counters {
  return Object.fromEntries(counterNames.map((name) => [name, 0])) as Counters
}
