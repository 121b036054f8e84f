import { toStreamId, toStreamPartId, type NodeId, type StreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { findStorage, nodeId, statusOf, storing } from '../../core/tracker-core.testkit.ts'
import type { NodeToTracker } from '../../core/tracker-events.ts'
import { defaultClusterLimits } from '../limits.ts'
import { ClusterCounters } from './cluster-counters.ts'
import { PartRouter } from './part-router.ts'
import { trackerOrder } from './stream-order.ts'

const streamId = toStreamId(`0x${'ab'.repeat(20)}/router`)
const trackers = [nodeId(101), nodeId(102), nodeId(103)]
const part = toStreamPartId(streamId, 0)
const [first, self, third] = trackerOrder(part, trackers) as [NodeId, NodeId, NodeId]
const [n1, n2] = [nodeId(1), nodeId(2)]
const leave = { type: 'leave', streamPartId: part } as const
const settledMs = defaultClusterLimits.handOverAfterMs

/** A router that is second in line, and all it asks for, in words. */
function setUp({ own = [] }: { own?: readonly NodeId[] | undefined } = {}) {
  const done: string[] = []
  const led = new Set<StreamPartId>()
  const counters = new ClusterCounters()
  const knows = { own, isRegistered: true, asked: 0 }
  const names = new Map([
    ...[[first, 'first'] as const, [self, 'self'] as const, [third, 'third'] as const],
    ...[[n1, 'n1'] as const, [n2, 'n2'] as const],
  ])
  const named = (id: NodeId) => names.get(id) ?? id
  const core = (from: NodeId, packet: NodeToTracker) => {
    if (packet.type === 'status') led.add(packet.streamPartId)
    done.push(`core: ${named(from)} ${packet.type}`)
  }
  const router = new PartRouter(defaultClusterLimits, {
    self,
    registered: () => (knows.isRegistered ? trackers : trackers.filter((id) => id !== self)),
    ownTrackers: () => {
      knows.asked++
      return knows.own
    },
    leads: (id) => led.has(id),
    ledParts: () => [...led],
    prepare: () => void done.push('prepare'),
    redirect: (id, _part, leader) => void done.push(`redirect ${named(id)} to ${named(leader)}`),
    handOver: (id, leader) => {
      led.delete(id)
      done.push(`hand over to ${named(leader)}`)
    },
    toCore: core,
    count: (name) => counters.count(name),
    fault: (_, error) => {
      throw error
    },
  })
  /** A packet arrives; where it is not taken the core has it. */
  const packet = (from: NodeId, what: NodeToTracker) => {
    if (!router.takes(from, what)) core(from, what)
  }
  return { router, packet, knows, counters, take: () => done.splice(0) }
}

describe('a tracker that is second in line for a stream part', () => {
  it('leads it while the first is not linked, and prepares for it once', () => {
    const { router, packet, take } = setUp()
    router.linked(third, 0)
    packet(n1, statusOf(part))
    packet(n1, statusOf(part))
    expect(take()).toEqual(['prepare', 'core: n1 status', 'core: n1 status'])
  })

  it('sends who reports, or asks who stores, to the first while that is linked', () => {
    const { router, packet, take, counters } = setUp()
    router.linked(first, 0)
    for (const what of [statusOf(part), findStorage(part), storing(part), leave]) packet(n1, what)
    expect(take()).toEqual(['redirect n1 to first', 'redirect n1 to first'])
    expect(counters.get('redirects')).toBe(2)
    router.unlinked(first)
    packet(n1, statusOf(part))
    expect(take()).toEqual(['prepare', 'core: n1 status'])
  })

  it('leaves to the core what is about no stream part', () => {
    const { router, packet, take } = setUp()
    router.linked(first, 0)
    packet(n1, { type: 'signal', peerId: n2, sessionId: 1, kind: 'offer', payload: '' })
    expect(take()).toEqual(['core: n1 signal'])
  })

  it('hands over what it leads when the first has been there for a while', () => {
    const { router, packet, take } = setUp()
    packet(n1, statusOf(part))
    take()
    router.linked(first, 0)
    router.tick(settledMs - 1)
    packet(n2, statusOf(part))
    expect(take()).toEqual(['core: n2 status'])
    expect(router.dueMs).toBe(settledMs)
    router.tick(settledMs)
    packet(n2, statusOf(part))
    expect(take()).toEqual(['hand over to first', 'redirect n2 to first'])
    expect(router.dueMs).toBe(Infinity)
  })

  it('does not hand over to one that goes again', () => {
    const { router, packet, take } = setUp()
    packet(n1, statusOf(part))
    router.linked(first, 0)
    router.unlinked(first)
    router.tick(settledMs)
    expect(take()).toEqual(['prepare', 'core: n1 status'])
  })

  it('leads everything when the registry does not list it', () => {
    const { router, packet, knows, take } = setUp()
    knows.isRegistered = false
    router.linked(first, 0)
    packet(n1, statusOf(part))
    expect(take()).toEqual(['prepare', 'core: n1 status'])
  })

  it('holds what is said of a stream until it is known which trackers that names', () => {
    const { router, packet, knows, take } = setUp({ own: undefined })
    Object.assign(knows, { own: undefined })
    router.linked(third, 0)
    packet(n1, statusOf(part))
    packet(n2, statusOf(part))
    router.gone(n2)
    expect(take()).toEqual([])
    knows.own = [third, self]
    router.streamKnown(streamId)
    expect(take()).toEqual(['redirect n1 to third'])
  })

  it('hands over when the stream names another first', () => {
    const { router, packet, knows, take } = setUp()
    router.linked(third, 0)
    router.tick(settledMs)
    packet(n1, statusOf(part))
    const { asked } = knows
    packet(n1, statusOf(part))
    expect(knows.asked).toBeGreaterThan(asked)
    take()
    knows.own = [third]
    router.streamKnown(streamId)
    expect(take()).toEqual(['hand over to third'])
  })
})
