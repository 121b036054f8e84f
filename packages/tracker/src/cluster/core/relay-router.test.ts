import {
  decodePacket,
  encodePacket,
  readPackets,
  toStreamId,
  toStreamPartId,
  type NodeId,
  type Packet,
  type StreamPartId,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { nodeId, statusOf, storing } from '../../core/tracker-core.testkit.ts'
import type { NodeToTracker } from '../../core/tracker-core.ts'
import { defaultClusterLimits } from '../limits.ts'
import { ClusterCounters } from './cluster-counters.ts'
import type { RelayFrame } from './relay-frame.ts'
import { RelayRouter } from './relay-router.ts'
import { trackerOrder } from './stream-order.ts'

const streamId = toStreamId(`0x${'ab'.repeat(20)}/router`)
const trackers = [nodeId(101), nodeId(102), nodeId(103)]
const part = toStreamPartId(streamId, 0)
const [first, self, third] = trackerOrder(part, trackers) as [NodeId, NodeId, NodeId]
const [n1, n2] = [nodeId(1), nodeId(2)]
const leave = { type: 'leave', streamPartId: part } as const

/** A router that is second in line, and all it asks for, in words. */
function setUp(limits: { maxStreamPartsPerNode?: number } = {}) {
  const done: string[] = []
  /** Nodes of which something throws that the router has others do. */
  const broken = new Set<NodeId>()
  const led = new Set<StreamPartId>()
  const counters = new ClusterCounters()
  const here = new Set<NodeId>([n1, n2])
  const names = new Map<NodeId, string>([
    ...[[first, 'first'] as const, [self, 'self'] as const, [third, 'third'] as const],
    ...[[n1, 'n1'] as const, [n2, 'n2'] as const],
  ])
  const named = (id: NodeId) => {
    if (broken.has(id)) throw new Error(`${names.get(id)} is broken`)
    return names.get(id) ?? id
  }
  const text = (frame: RelayFrame) => {
    if (frame.type !== 'up') return `${frame.type} ${named(frame.nodeId)}`
    return `up ${named(frame.nodeId)} ${readPackets(frame.packet)
      .map(({ type, body }) => decodePacket(type, body).type)
      .join()}`
  }
  const router = new RelayRouter(
    { ...defaultClusterLimits, maxStreamPartsPerNode: 10, ...limits },
    {
      self,
      registered: () => trackers,
      ownTrackers: () => [],
      relay: (tracker, frame) => done.push(`${named(tracker)}: ${text(frame)}`) > 0,
      toNode: (id) => void done.push(`to ${named(id)}`),
      toCore: (id, packet) => {
        if (packet.type === 'status') led.add(packet.streamPartId)
        done.push(`core: ${named(id)} ${packet.type}`)
      },
      disconnect: (id, code) => void done.push(`disconnect ${named(id)} ${code}`),
      connected: (id) => (here.has(id) ? { info: undefined, hops: 0 } : undefined),
      leads: (id) => led.has(id),
      ledParts: () => [...led],
      release: (id) => {
        led.delete(id)
        return [
          { nodeId: n1, status: statusOf(id, 3), storing: true },
          { nodeId: n2, status: statusOf(id, 4), storing: false },
        ]
      },
      prepare: () => void done.push('prepare'),
      maySignal: () => false,
      moved: (_id, to) => void done.push(`moved to ${named(to)}`),
      count: (name, by) => counters.count(name, by),
      fault: ({ nodeId: id }, error) => {
        if (broken.size === 0) throw error
        done.push(`fault ${(id && names.get(id)) ?? ''}`)
      },
    },
  )
  /** A packet arrives; where it is not taken the core has it. */
  const packet = (from: NodeId, what: NodeToTracker, now: number) => {
    if (router.takes(from, what, now)) return
    if (what.type === 'status') led.add(what.streamPartId)
    done.push(`core: ${named(from)} ${what.type}`)
  }
  return { router, packet, led, counters, here, broken, take: () => done.splice(0) }
}

/** A router with a node that is relayed to the first. */
function relaying() {
  const all = setUp()
  all.router.linked(first, 0)
  all.packet(n1, statusOf(part), 0)
  expect(all.take()).toEqual(['first: open n1', 'first: up n1 status'])
  return all
}

const down = (packet: Packet) => ({ type: 'down', nodeId: n1, packet: encodePacket(packet) }) as const

describe('a router between trackers', () => {
  it('leaves to the core what no earlier tracker can have', () => {
    const { router, packet, take } = setUp()
    router.linked(third, 0)
    packet(n1, statusOf(part), 0)
    packet(n1, statusOf(part), 1)
    expect(take()).toEqual(['prepare', 'core: n1 status', 'core: n1 status'])
  })

  it('knows what is older than what it has relayed', () => {
    const { router, packet } = relaying()
    const statusIn = (session: number) => statusOf(part, 0, [], [], session)
    packet(n1, statusIn(2), 1)
    const isOutdated = (node: NodeId, session: number) => router.isOutdated(node, statusIn(session))
    expect([isOutdated(n1, 1), isOutdated(n1, 2), isOutdated(n2, 1)]).toEqual([true, false, false])
  })

  it('has a node say anew in each session that it stores', () => {
    const { router, packet, take } = relaying()
    packet(n1, storing(part), 1)
    packet(n1, statusOf(part, 0, [], [], 2), 2)
    router.unlinked(first, 3)
    expect(take().filter((line) => line.includes('storing'))).toEqual(['first: up n1 storing'])
  })

  it('hands over, after a while, what an earlier tracker should have, but for who is leaving', () => {
    const { router, packet, take, counters } = setUp()
    packet(n1, statusOf(part), 0)
    packet(n2, statusOf(part), 0)
    packet(n2, leave, 10)
    take()
    router.linked(first, 100)
    router.tick(599)
    expect(take()).toEqual([])
    router.tick(600)
    expect(take()).toEqual([
      ...['moved to first', 'first: open n1', 'first: up n1 status', 'first: up n1 storing'],
    ])
    expect(counters.get('handovers')).toBe(1)
    router.tick(5_000)
    expect(take()).toEqual([])
  })

  it('does not hand over to a tracker that goes again', () => {
    const { router, packet, take } = setUp()
    packet(n1, statusOf(part), 0)
    router.linked(first, 0)
    router.unlinked(first, 400)
    router.linked(first, 500)
    take()
    router.tick(600)
    expect(take()).toEqual([])
  })

  it('takes over with what the nodes said last', () => {
    const { router, packet, take } = relaying()
    packet(n1, storing(part), 1)
    take()
    router.unlinked(first, 10)
    expect(take()).toEqual(['moved to self', 'prepare', 'core: n1 status', 'core: n1 storing'])
    packet(n1, statusOf(part), 20)
    expect(take()).toEqual(['core: n1 status'])
  })

  it('believes a leave after a while, and not when the node is with the leader or stays', () => {
    const { router, packet, take } = relaying()
    packet(n1, leave, 0)
    packet(n1, statusOf(part), 1_000)
    router.tick(2_500)
    expect(take()).toEqual(['first: up n1 status'])
    packet(n1, leave, 3_000)
    router.tick(5_000)
    expect(take()).toEqual(['first: up n1 leave', 'first: gone n1'])
    packet(n1, statusOf(part), 6_000)
    packet(n1, leave, 6_000)
    take()
    router.receive(first, { type: 'closed', nodeId: n1, code: 'REPLACED', text: '' }, 6_500)
    router.tick(9_000)
    expect(take()).toEqual([])
    expect(router.load).toEqual({ nodes: 0, streamParts: 0 })
  })

  it('offers a node again that was one too many, and lets go what it will not have', () => {
    const { router, take } = relaying()
    router.receive(first, { type: 'closed', nodeId: n1, code: 'TOO_MANY_RELAYED', text: '' }, 0)
    router.tick(1_999)
    expect(take()).toEqual([])
    router.tick(2_000)
    expect(take()).toEqual(['first: open n1', 'first: up n1 status'])
    router.receive(first, { type: 'closed', nodeId: n1, code: 'TOO_MANY_PACKETS', text: '' }, 3_000)
    expect(take()).toEqual(['disconnect n1 TOO_MANY_PACKETS'])
    router.gone(n1)
    expect([take(), router.load]).toEqual([[], { nodes: 0, streamParts: 0 }])
  })

  it('sends signals where the peer is known from, and passes on only what the leader may say', () => {
    const { router, packet, take } = relaying()
    const contact = { addresses: [{ kind: 'webrtc', text: '' }], dials: ['websocket', 'webrtc'] }
    const instruction = { type: 'instruction', streamPartId: part, counter: 1 } as const
    router.receive(first, down({ ...instruction, neighbours: [{ nodeId: n2, contact }] }), 0)
    packet(n1, { type: 'signal', peerId: n2, sessionId: 1, kind: 'offer', payload: '' }, 0)
    expect(take()).toEqual(['to n1', 'first: up n1 signal'])
    router.receive(third, down({ ...instruction, neighbours: [] }), 0)
    const other = toStreamPartId(streamId, 1)
    router.receive(first, down({ ...instruction, streamPartId: other, neighbours: [] }), 0)
    router.receive(first, down({ type: 'iceServers', servers: [], ttlS: 0 }), 0)
    expect(take()).toEqual([])
    packet(n2, { type: 'signal', peerId: n1, sessionId: 1, kind: 'offer', payload: '' }, 0)
    expect(take()).toEqual(['core: n2 signal'])
  })

  it('takes over and hands over all but a node with a fault', () => {
    const { router, packet, take, broken } = setUp()
    for (const node of [n1, n2]) packet(node, statusOf(part), 0)
    router.linked(first, 100)
    take()
    broken.add(n1)
    router.tick(600)
    expect(take()).toEqual(['moved to first', 'fault n1', 'first: open n2', 'first: up n2 status'])
    router.unlinked(first, 700)
    expect(take()).toEqual(['moved to self', 'prepare', 'fault n1', 'core: n2 status'])
  })

  it('redirects all but a node with a fault, and believes the leaves of the others', () => {
    const { router, packet, take, broken } = setUp()
    router.linked(first, 0)
    for (const node of [n1, n2]) packet(node, statusOf(part), 0)
    for (const node of [n1, n2]) packet(node, leave, 10)
    take()
    broken.add(n1)
    router.tick(5_000)
    expect(take()).toEqual(['fault n1', 'first: up n2 leave', 'first: gone n2'])
  })

  it('relays no more stream parts of a node than a tracker takes', () => {
    const { router, packet, take, counters } = setUp({ maxStreamPartsPerNode: 1 })
    router.linked(first, 0)
    const others = Array.from({ length: 50 }, (_, partition) => toStreamPartId(streamId, partition))
    for (const id of others.filter((each) => trackerOrder(each, trackers)[0] === first).slice(0, 2))
      packet(n1, statusOf(id), 0)
    expect(take().at(-1)).toBe('disconnect n1 TOO_MANY_STREAM_PARTS')
    expect(counters.get('relaysRefused')).toBe(1)
  })
})
