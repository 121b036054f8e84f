import { toStreamId, toStreamPartId, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { nodeId, webrtcContact } from '../../core/tracker-core.testkit.ts'
import { crypto } from '../cluster.testkit.ts'
import { defaultClusterLimits, type ClusterLimits } from '../limits.ts'
import { ClusterCounters } from './cluster-counters.ts'
import { encodeBody, type RecordBody, type ReplicatedNode } from './record.ts'
import { Replicator } from './replicator.ts'

const brokenPart = toStreamPartId(toStreamId(`0x${'ab'.repeat(20)}/broken`), 0)
const part = toStreamPartId(toStreamId(`0x${'ab'.repeat(20)}/replicator`), 0)
const nodeOf = (id: NodeId, neighbours: readonly NodeId[] = []): ReplicatedNode => ({
  ...{ nodeId: id, contact: webrtcContact, neighbours },
})

function setUp(limits: Partial<ClusterLimits> = {}) {
  let nodes: readonly ReplicatedNode[] | undefined = []
  const written: RecordBody[] = []
  const faults: unknown[] = []
  const counters = new ClusterCounters()
  const replicator = new Replicator(
    { ...defaultClusterLimits, ...limits },
    {
      ...{ crypto, secret: 7, count: (name) => counters.count(name) },
      snapshot: (id) => {
        if (id === brokenPart) throw new Error('no snapshot')
        return nodes
      },
      fault: ({ streamPartId }, error) => {
        if (streamPartId !== brokenPart) throw error
        faults.push(error)
      },
      write: (body) => void written.push(body),
    },
    0,
  )
  /** Something changes, and time goes on until all that follows has happened. */
  const change = (to: readonly ReplicatedNode[] | undefined, now: number) => {
    nodes = to
    replicator.touched(part, now)
  }
  return { replicator, written, faults, counters, change, take: () => written.splice(0) }
}

describe('a replicator', () => {
  it('writes an overlay soon after a change, and once a second at most', () => {
    const { replicator, change, take } = setUp()
    expect(replicator.dueMs).toBe(Infinity)
    change([nodeOf(nodeId(1))], 0)
    change([nodeOf(nodeId(1)), nodeOf(nodeId(2))], 50)
    replicator.tick(99)
    expect(take()).toEqual([])
    expect(replicator.dueMs).toBe(100)
    replicator.tick(100)
    expect(take()).toMatchObject([
      { kind: 'topology', chunk: 0, chunks: 1, nodes: [{ nodeId: nodeId(1) }, { nodeId: nodeId(2) }] },
      { kind: 'lead', chunks: 1, nodes: 2 },
    ])
    change([nodeOf(nodeId(1))], 200)
    expect(replicator.dueMs).toBe(1_100)
    replicator.tick(1_100)
    expect(take()).toMatchObject([
      { kind: 'topology', nodes: [{ nodeId: nodeId(1) }] },
      { kind: 'lead', nodes: 1 },
    ])
  })

  it('writes nothing when nothing is different, all of it when it is old or lost, and the end', () => {
    const { replicator, change, take } = setUp()
    change([nodeOf(nodeId(1))], 0)
    replicator.tick(100)
    take()
    change([nodeOf(nodeId(1))], 2_000)
    replicator.tick(2_100)
    expect(take()).toEqual([])
    replicator.tick(100 + defaultClusterLimits.replicaLifetimeMs / 2)
    expect(take().map(({ kind }) => kind)).toEqual(['topology', 'lead'])
    replicator.writeAllAgain()
    replicator.tick(2_000_000)
    expect(take().map(({ kind }) => kind)).toEqual(['topology', 'lead'])
    change(undefined, 3_000_000)
    replicator.tick(3_000_100)
    expect(take()).toEqual([{ kind: 'lead', streamPartId: part, chunks: 0, nodes: 0 }])
    replicator.tick(9_000_000)
    expect(replicator.dueMs).toBe(Infinity)
  })

  it('divides by bytes as well: many long addresses are all written', () => {
    const { replicator, change, take, counters } = setUp()
    const contact = {
      addresses: [
        { kind: 'websocket', text: `wss://${'a'.repeat(506)}` },
        { kind: 'webrtc', text: '' },
      ],
      dials: ['websocket', 'webrtc'],
    }
    // As whoever picks ids would, so that all fall into one share.
    const ids = Array.from({ length: 500 }, (_, index) => nodeId(65_536 * (index + 1)))
    change(
      ids.map((id) => ({ nodeId: id, contact, neighbours: ids.slice(0, 4) })),
      0,
    )
    replicator.tick(100)
    const shares = take().flatMap((body) => (body.kind === 'topology' ? [body] : []))
    expect(shares.flatMap(({ nodes }) => nodes.map((node) => node.nodeId)).toSorted()).toEqual(ids.toSorted())
    for (const share of shares)
      expect(encodeBody(share).length).toBeLessThan(defaultClusterLimits.maxRecordBytes)
    expect([counters.get('replicasTruncated'), shares.length <= 16]).toEqual([0, true])
  })

  it('divides a large overlay, and writes again only the shares that changed', () => {
    const { replicator, change, take } = setUp({ nodesPerChunk: 4 })
    const nodes = Array.from({ length: 30 }, (_, index) => nodeOf(nodeId(index)))
    change(nodes, 0)
    replicator.tick(100)
    const first = take()
    expect(first.length).toBe(9)
    expect(first.flatMap((body) => (body.kind === 'topology' ? body.nodes : [])).length).toBe(30)
    change([...nodes, nodeOf(nodeId(30))], 2_000)
    replicator.tick(2_100)
    const second = take()
    expect(second).toMatchObject([
      { kind: 'topology', chunks: 8 },
      { kind: 'lead', nodes: 31 },
    ])
    expect(second[0]?.kind === 'topology' && second[0].nodes.some((node) => node.nodeId === nodeId(30))).toBe(
      true,
    )
  })

  it('writes each share of an overlay again before it expires, also while others change', () => {
    const { replicator, change, take } = setUp({ nodesPerChunk: 4 })
    const nodes = Array.from({ length: 30 }, (_, index) => nodeOf(nodeId(index)))
    const { replicaLifetimeMs } = defaultClusterLimits
    const writtenMs = new Map<number, number>()
    const expired = new Set<number>()
    for (let nowMs = 0; nowMs < 6 * replicaLifetimeMs; nowMs += 1_000) {
      // One node comes or goes, more often than an overlay is written again that does not change.
      if (nowMs % (replicaLifetimeMs / 3) === 0)
        change(nodes.slice((nowMs / (replicaLifetimeMs / 3)) % 2), nowMs)
      replicator.tick(nowMs)
      for (const body of take()) if (body.kind === 'topology') writtenMs.set(body.chunk, nowMs)
      for (const [chunk, atMs] of writtenMs) if (nowMs >= atMs + replicaLifetimeMs) expired.add(chunk)
    }
    expect([writtenMs.size, [...expired]]).toEqual([8, []])
  })

  it('writes the others when one cannot be written, and that one when it has changed again', () => {
    const { replicator, change, take, faults } = setUp()
    replicator.touched(brokenPart, 0)
    change([nodeOf(nodeId(1))], 0)
    replicator.tick(100)
    expect(take().map(({ kind }) => kind)).toEqual(['topology', 'lead'])
    expect(faults).toEqual([new Error('no snapshot')])
    replicator.tick(10_000)
    expect(faults).toHaveLength(1)
    replicator.touched(brokenPart, 10_000)
    replicator.tick(10_100)
    expect(faults).toHaveLength(2)
  })

  it('writes no more than it may, and leaves out what does not fit a record', () => {
    const { replicator, change, take, counters } = setUp({
      ...{ recordsPerSecond: 1, recordBurst: 2, maxRecordBytes: 660, maxChunks: 1, replicaIntervalMs: 0 },
    })
    change([nodeOf(nodeId(1)), nodeOf(nodeId(2)), nodeOf(nodeId(3)), nodeOf(nodeId(4))], 0)
    replicator.tick(100)
    expect(take()).toMatchObject([{ nodes: [{}, {}, {}] }, { kind: 'lead' }])
    expect(counters.get('replicasTruncated')).toBe(1)
    change([nodeOf(nodeId(1))], 200)
    replicator.tick(300)
    expect([take(), counters.get('writesDelayed'), replicator.dueMs]).toEqual([[], 1, 400])
    replicator.tick(2_500)
    expect(take().length).toBe(2)
  })
})
