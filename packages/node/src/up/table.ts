import Table from 'cli-table3'
import type { NodeId } from '@runnel/protocol'
import { plainLayout } from '../cli/plain-layout.ts'
import type { StorageStatus } from '@runnel/storage'
import type { NodeSnapshot } from '../snapshot.ts'

/** Neighbours named in a row; of the others only the number is given. */
const maxNamedNeighbours = 4

/**
 * How the network is doing, a row for each node, at most 100 columns wide for up to 99 nodes. Neighbours are given by
 * the numbers of their rows; `lost` counts messages that later ones refer to and that have not come.
 */
export function statusTable(snapshots: readonly NodeSnapshot[], publisherId: NodeId): string {
  const rowNumbers = new Map(snapshots.map(({ nodeId }, index) => [nodeId, index + 1]))
  const head = ['#', 'node', 'neighbours', 'links', 'RTT ms', 'delivered', 'duplicates', 'p50/p99 ms', 'lost']
  const table = new Table({ ...plainLayout, head })
  for (const snapshot of snapshots) table.push(rowOf(snapshot, publisherId, rowNumbers))
  const stores = snapshots.flatMap(({ plugins }) => plugins.storage ?? []).map(storageLine)
  return [table.toString().replace(/ +$/gm, ''), ['* publishes', ...stores].join('   ')].join('\n')
}

/** `† stores: 1200 messages, 0 waiting, lag 0 ms` */
function storageLine({ ingest, isHealthy }: StorageStatus): string {
  const { storedMessages, queuedBatches, lagMs } = ingest
  const health = isHealthy ? '' : '; the store is FAILING, see its log'
  return `† stores: ${storedMessages} messages, ${queuedBatches} waiting, lag ${lagMs} ms${health}`
}

/** A network in a few figures. */
export interface StatusFigures {
  readonly nodes: number
  readonly delivered: number
  /** Of the subscriber with the largest delays. */
  readonly slowestP99Ms: number
  readonly lost: number
  readonly stored: number
}

export function statusFigures(snapshots: readonly NodeSnapshot[], publisherId: NodeId): StatusFigures {
  const subscribers = snapshots.filter(
    ({ nodeId, plugins }) => nodeId !== publisherId && plugins.storage === undefined,
  )
  const p99 = subscribers.map(({ plugins }) => plugins.observer?.latencyMs?.p99 ?? 0)
  return {
    nodes: snapshots.length,
    delivered: sum(subscribers.map(deliveredOf)),
    slowestP99Ms: Math.max(0, ...p99),
    lost: sum(subscribers.map(lostOf)),
    stored: sum(snapshots.map(({ plugins }) => plugins.storage?.ingest.storedMessages ?? 0)),
  }
}

/** One line for a log. */
export function statusLine({ nodes, delivered, slowestP99Ms, lost, stored }: StatusFigures): string {
  return `${nodes} nodes, ${delivered} messages delivered, slowest p99 ${slowestP99Ms} ms, ${lost} lost, ${stored} stored`
}

function rowOf(
  snapshot: NodeSnapshot,
  publisherId: NodeId,
  rowNumbers: ReadonlyMap<NodeId, number>,
): (string | number)[] {
  const { nodeId, streamParts, plugins } = snapshot
  const latencyMs = plugins.observer?.latencyMs
  const links = new Map(
    streamParts.flatMap((part) => part.neighbours.map((link) => [link.nodeId, link] as const)),
  )
  const rtts = [...links.values()].flatMap(({ rttMs }) => (rttMs === undefined ? [] : [rttMs]))
  return [
    rowNumbers.get(nodeId) ?? '',
    `${nodeId.slice(0, 6)}…${nodeId.slice(-4)}${nodeId === publisherId ? '*' : snapshot.plugins.storage ? '†' : ''}`,
    describeNeighbours([...links.keys()].map((id) => rowNumbers.get(id))),
    describeLinks([...links.values()].map(({ transport }) => transport)),
    rtts.length === 0 ? '–' : `${shortMs(Math.min(...rtts))}–${shortMs(Math.max(...rtts))}`,
    deliveredOf(snapshot),
    sum(streamParts.map((part) => part.duplicates)),
    latencyMs === undefined ? '–' : `${shortMs(latencyMs.p50)}/${shortMs(latencyMs.p99)}`,
    lostOf(snapshot),
  ]
}

/** `1 2 5 7 +3`; a node that is no row of the table, such as a user's, only counts. */
function describeNeighbours(rows: readonly (number | undefined)[]): string {
  const known = rows.filter((row) => row !== undefined).toSorted((a, b) => a - b)
  const named = known.slice(0, maxNamedNeighbours)
  const others = rows.length - named.length
  return [...named, ...(others > 0 ? [`+${others}`] : [])].join(' ') || '–'
}

const shortNames: Readonly<Record<string, string>> = { websocket: 'ws', webrtc: 'rtc' }

/** `3 ws 2 rtc` */
function describeLinks(transports: readonly string[]): string {
  const counts = [...Map.groupBy(transports, (transport) => shortNames[transport] ?? transport)]
  const inOrder = counts.toSorted(([a], [b]) => b.localeCompare(a))
  return inOrder.map(([name, links]) => `${links.length} ${name}`).join(' ') || '–'
}

/** Decimals only where they matter. */
function shortMs(ms: number): string {
  return ms.toFixed(ms < 10 ? 1 : 0)
}

function deliveredOf({ plugins }: NodeSnapshot): number {
  return sum((plugins.observer?.observed ?? []).map((chain) => chain.delivered))
}

function lostOf({ plugins }: NodeSnapshot): number {
  return sum((plugins.observer?.observed ?? []).map((chain) => chain.missing))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
