import Table from 'cli-table3'
import type { NodeId } from '@runnel/protocol'
import type { NodeSnapshot } from '../snapshot.ts'

/** How the network is doing, a row for each node. `lost` counts messages that later ones refer to and that have not come. */
export function statusTable(snapshots: readonly NodeSnapshot[], publisherId: NodeId): string {
  const table = new Table({
    head: [
      'node',
      'role',
      'links',
      'neighbours',
      'RTT ms',
      'published',
      'delivered',
      'copies',
      'p50 ms',
      'p99 ms',
      'lost',
    ],
    style: { head: [], border: [], compact: true },
  })
  for (const snapshot of snapshots) table.push(rowOf(snapshot, publisherId))
  return table.toString()
}

/** One line for a log. */
export function statusLine(snapshots: readonly NodeSnapshot[], publisherId: NodeId): string {
  const subscribers = snapshots.filter(({ nodeId }) => nodeId !== publisherId)
  const p99 = subscribers.map(({ latencyMs }) => latencyMs?.p99 ?? 0)
  const delivered = sum(subscribers.map(deliveredOf))
  const lost = sum(subscribers.map(lostOf))
  return `${snapshots.length} nodes, ${delivered} messages delivered, slowest p99 ${Math.max(0, ...p99)} ms, ${lost} lost`
}

function rowOf(snapshot: NodeSnapshot, publisherId: NodeId): (string | number)[] {
  const { nodeId, streamParts, latencyMs } = snapshot
  const links = new Map(
    streamParts.flatMap((part) => part.neighbours.map((link) => [link.nodeId, link] as const)),
  )
  const rtts = [...links.values()].flatMap(({ rttMs }) => (rttMs === undefined ? [] : [rttMs]))
  return [
    `${nodeId.slice(0, 8)}…${nodeId.slice(-4)}`,
    nodeId === publisherId ? 'publisher' : 'subscriber',
    describeLinks([...links.values()].map(({ transport }) => transport)),
    streamParts.map((part) => part.neighbours.length).join(' '),
    rtts.length === 0 ? '–' : `${Math.min(...rtts).toFixed(1)}–${Math.max(...rtts).toFixed(1)}`,
    sum(streamParts.map((part) => part.published)),
    deliveredOf(snapshot),
    sum(streamParts.map((part) => part.duplicates)),
    latencyMs?.p50 ?? '–',
    latencyMs?.p99 ?? '–',
    lostOf(snapshot),
  ]
}

/** `3 websocket, 2 webrtc` */
function describeLinks(transports: readonly string[]): string {
  const counts = [...Map.groupBy(transports, (transport) => transport)]
  return counts.map(([transport, links]) => `${links.length} ${transport}`).join(', ') || '–'
}

function deliveredOf({ observed }: NodeSnapshot): number {
  return sum(observed.map((chain) => chain.delivered))
}

function lostOf({ observed }: NodeSnapshot): number {
  return sum(observed.map((chain) => chain.missing))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
