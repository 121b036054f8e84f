import { toNodeId, type NodeId, type StreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { NodeSnapshot, PluginStatuses } from '../snapshot.ts'
import { statusFigures, statusLine, statusTable } from './table.ts'
import { idleStorageStatus } from '../../../storage/src/storage-status.testkit.ts'

const idOf = (n: number) => toNodeId(`0x${n.toString(16).padStart(4, '0').repeat(10)}`)
const streamPartId = `${idOf(1)}/x#0` as StreamPartId

type Links = readonly (readonly [NodeId, string, number?])[]

function snapshotOf(n: number, links: Links, plugins: PluginStatuses = {}): NodeSnapshot {
  const neighbours = links.map(([nodeId, transport, rttMs]) => ({ nodeId, transport, rttMs }))
  const counts = { wantedNeighbours: 4, delivered: 7, duplicates: 3, published: 0 }
  return {
    ...{
      nodeId: idOf(n),
      pid: 1,
      websocketUrl: undefined,
      cryptoBackend: 'native',
      uptimeMs: 1,
      streams: { isRead: true, followed: [], ignoredParts: 0 },
      isReplaced: false,
      admissionProblem: undefined,
      clockProblem: undefined,
      trackers: [],
      chainEndpoints: [],
    },
    streamParts: [{ streamPartId, neighbours, ...counts }],
    ...{ counters: {}, plugins },
  }
}

const rowsOf = (table: string) => table.split('\n').map((line) => line.trim().split(/ {2,}/))

describe('statusTable', () => {
  it('has a row for each node, and names neighbours by their rows', () => {
    const chain = { streamPartId, publisherId: idOf(1), messageChainId: 'c' }
    const totals = { delivered: 40, missing: 2, repeated: 0, tooOld: 0, last: undefined }
    const table = statusTable(
      [
        snapshotOf(1, [[idOf(2), 'websocket', 0.94]]),
        snapshotOf(
          2,
          [
            [idOf(9), 'websocket'],
            [idOf(1), 'webrtc', 31.4],
          ],
          {
            observer: {
              observed: [{ ...chain, ...totals }],
              latencyMs: { p50: 2.57, p99: 17.9, max: 20 },
              unaccounted: 0,
            },
          },
        ),
        snapshotOf(3, []),
      ],
      idOf(1),
    )
    expect(rowsOf(table)).toEqual([
      ['#', 'node', 'neighbours', 'links', 'RTT ms', 'delivered', 'duplicates', 'p50/p99 ms', 'lost'],
      ['1', '0x0001…0001*', '2', '1 ws', '0.9–0.9', '0', '3', '–', '0'],
      ['2', '0x0002…0002', '1 +1', '1 ws 1 rtc', '31–31', '40', '3', '2.6/18', '2'],
      ['3', '0x0003…0003', '–', '–', '–', '0', '3', '–', '0'],
      ['* publishes'],
    ])
  })

  it('says what the storage node has stored', () => {
    const ingest = { ...idleStorageStatus.ingest, queuedBatches: 3, lagMs: 12, storedMessages: 1200 }
    const storage = { ...idleStorageStatus, ingest }
    const snapshots = [snapshotOf(1, []), snapshotOf(2, [], { storage })]
    const lines = statusTable(snapshots, idOf(1)).split('\n')
    expect(lines[2]).toContain('0x0002…0002†')
    expect(lines[3]).toBe('* publishes   † stores: 1200 messages, 3 waiting, lag 12 ms')
    expect(statusLine(statusFigures(snapshots, idOf(1)))).toContain('1200 stored')
    const failing = snapshotOf(2, [], { storage: { ...storage, isHealthy: false } })
    expect(statusTable([failing], idOf(1))).toContain('the store is FAILING')
  })

  it('fits 100 columns with many nodes, links and messages', () => {
    const count = 64
    const links = (n: number): Links =>
      Array.from({ length: 20 }, (_, i) => [
        idOf(((n + i) % count) + 1),
        i % 2 ? 'websocket' : 'webrtc',
        0.5 + i * 60,
      ])
    const latencyMs = { p50: 950, p99: 12_000, max: 12_000 }
    const observer = { observed: [], latencyMs, unaccounted: 0 }
    const snapshots = Array.from({ length: count }, (_, i) => snapshotOf(i + 1, links(i + 1), { observer }))
    const lines = statusTable(snapshots, idOf(1)).split('\n')
    expect(lines).toHaveLength(count + 2)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(lines[1]).toContain('+16')
  })
})
