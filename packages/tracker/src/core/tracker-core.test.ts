import type { Contact, NodeId, Signal } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { defaultTrackerLimits } from '../limits.ts'
import { Replica } from './replica.ts'
import {
  codes,
  instructions,
  nodeId,
  partA,
  partB,
  statusOf,
  TrackerStory,
  webrtcContact,
} from './tracker-core.testkit.ts'

const [n1, n2, n3] = [nodeId(1), nodeId(2), nodeId(3)]
const offer = (peerId: NodeId): Signal => ({
  type: 'signal',
  peerId,
  sessionId: 1,
  kind: 'offer',
  payload: 'sdp',
})

function storyOf(size: number, options: ConstructorParameters<typeof TrackerStory>[0] = {}): TrackerStory {
  const story = new TrackerStory(options)
  for (let n = 1; n <= size; n++) {
    for (const { to, counter } of instructions([...story.join(nodeId(n)), ...story.advance(100)]))
      story.packet(to, statusOf(partA, counter))
  }
  story.effects.length = 0
  return story
}

const topologyOf = (story: TrackerStory) => {
  const topology = story.core.streamParts.get(partA)?.topology
  if (topology === undefined) throw new Error('no overlay')
  return topology
}
const counterOf = (story: TrackerStory, id: NodeId) =>
  story.core.streamParts.get(partA)?.members.get(id)?.counter ?? 0
const neighbourOf = (story: TrackerStory, id: NodeId) => [...topologyOf(story).neighbours(id)][0] ?? id

describe('joining and leaving', () => {
  it('tells a lone node that it is alone, and two that they are two', () => {
    const story = new TrackerStory()
    expect(instructions(story.join(n1))).toEqual([{ to: n1, part: partA, counter: 1, neighbours: [] }])
    story.advance(100)
    expect(instructions(story.join(n2))).toEqual([
      { to: n2, part: partA, counter: 1, neighbours: [n1] },
      { to: n1, part: partA, counter: 2, neighbours: [n2] },
    ])
  })

  it('tells nothing to nodes of other stream parts', () => {
    const story = storyOf(10)
    story.advance(100)
    const told = instructions([...story.join(nodeId(50), partB), ...story.advance(100)])
    expect(told.map(({ to }) => to)).toEqual([nodeId(50)])
  })

  it('takes a node out when it leaves, and forgets empty stream parts and gone nodes', () => {
    const story = storyOf(2)
    const told = instructions(story.packet(n1, { type: 'leave', streamPartId: partA }))
    expect(told).toEqual([{ to: n2, part: partA, counter: 2, neighbours: [] }])
    story.packet(n2, { type: 'leave', streamPartId: partA })
    expect(story.core.streamParts.size).toBe(0)
    for (const id of [n1, n2]) story.disconnect(id)
    story.advance(10_000)
    expect(story.core.nodes.size).toBe(0)
    expect(story.core.dueMs).toBe(Infinity)
  })
})

describe('a node that may not be here any more', () => {
  it('is out at once, and its neighbours are told in the same breath', () => {
    const story = storyOf(8)
    story.advance(100)
    const before = [...topologyOf(story).neighbours(n1)]
    const told = instructions(story.expel(n1))
    expect(told.map(({ to }) => to).sort()).toEqual(before.sort())
    expect(told.flatMap(({ neighbours }) => neighbours)).not.toContain(n1)
    expect([story.core.nodes.has(n1), story.core.streamParts.get(partA)?.size]).toEqual([false, 7])
    expect(story.core.counters.get('nodesExpelled')).toBe(1)
  })

  it('is out also while it is disconnected, and nothing is left to wait for', () => {
    const story = storyOf(1)
    story.disconnect(n1)
    story.expel(n1)
    expect([story.core.nodes.size, story.core.streamParts.size, story.core.dueMs]).toEqual([0, 0, Infinity])
    expect(story.disconnect(n1)).toEqual([])
    expect(story.expel(n2)).toEqual([])
    expect(story.core.counters.get('nodesExpelled')).toBe(1)
  })

  it('neither stores nor signals any more', () => {
    const story = storyOf(2)
    story.packet(n1, { type: 'storing', streamPartId: partA, storing: true })
    story.expel(n1)
    expect(story.core.storage.count(partA)).toBe(0)
    expect(story.packet(n1, offer(n2))).toEqual([])
    expect(codes(story.packet(n2, offer(n1)))).toEqual(['SIGNAL_TARGET_UNKNOWN'])
  })
})

describe('statuses', () => {
  it('get no answer when they answer the newest instruction, even if links are still being opened', () => {
    const story = storyOf(12)
    expect(story.packet(n1, statusOf(partA, counterOf(story, n1)))).toEqual([])
    expect(story.advance(60_000)).toEqual([])
  })

  it('that are stale change no neighbours, but their failures and round-trip times count', () => {
    const story = storyOf(12)
    const lost = neighbourOf(story, n1)
    const status = statusOf(partA, 0, [], [{ nodeId: lost, reason: 'timeout' }])
    const told = story.packet(n1, { ...status, neighbours: [{ nodeId: n2, rttMs: 12.5 }] })
    expect(topologyOf(story).hasEdge(n1, lost)).toBe(false)
    expect(instructions(told).map(({ to }) => to)).toContain(n1)
    expect(story.core.counters.get('staleStatuses')).toBe(1)
    expect(story.core.streamParts.get(partA)?.members.get(n1)?.rttsMs.get(n2)).toBe(12.5)
  })

  it('that never come are asked for by the same instruction, a few times', () => {
    const story = new TrackerStory()
    story.join(n1)
    const again = instructions(story.advance(3_600_000))
    expect(again).toEqual(Array(5).fill({ to: n1, part: partA, counter: 1, neighbours: [] }))
    expect(story.core.counters.get('resendsGivenUp')).toBe(1)
    expect(story.core.dueMs).toBe(Infinity)
  })

  it('with a counter above ours are answered with a higher one', () => {
    const story = storyOf(3)
    const told = instructions(story.packet(n1, statusOf(partA, 100)))
    expect(told.map(({ to, counter }) => [to, counter])).toEqual([[n1, 101]])
  })

  it('with a counter nobody can reach end the connection', () => {
    const story = storyOf(3)
    expect(codes(story.packet(n1, statusOf(partA, 2 ** 52)))).toEqual(['INVALID_STATUS'])
    expect(story.packet(n1, statusOf(partA, 1))).toEqual([])
  })
})

describe('failed edges', () => {
  it('are replaced, and the pair is not tried again for a while', () => {
    const story = storyOf(30)
    const lost = neighbourOf(story, n1)
    story.packet(n1, statusOf(partA, counterOf(story, n1), [], [{ nodeId: lost, reason: 'unreachable' }]))
    for (let round = 0; round < 10; round++) {
      story.advance(5_000)
      const next = neighbourOf(story, n1)
      story.packet(n1, statusOf(partA, counterOf(story, n1), [], [{ nodeId: next, reason: 'lost' }]))
      expect(topologyOf(story).hasEdge(n1, lost)).toBe(false)
      expect(topologyOf(story).neighbours(n1).size).toBe(4)
    }
  })

  it('of others are none of its business', () => {
    const story = storyOf(12)
    const stranger =
      [...topologyOf(story).nodes()].find((id) => id !== n1 && !topologyOf(story).hasEdge(n1, id)) ?? n1
    const edges = [...topologyOf(story).edges()]
    story.packet(n1, statusOf(partA, counterOf(story, n1), [], [{ nodeId: stranger, reason: 'lost' }]))
    expect([...topologyOf(story).edges()]).toEqual(edges)
  })

  it('are replaced for one node only so often', () => {
    const story = storyOf(60)
    const { edgeFailureBurst } = defaultTrackerLimits
    for (let i = 0; i < 100; i++)
      story.packet(
        n1,
        statusOf(partA, counterOf(story, n1), [], [{ nodeId: neighbourOf(story, n1), reason: 'refused' }]),
      )
    expect(story.core.counters.get('edgesFailed')).toBe(edgeFailureBurst)
    expect(story.core.counters.get('edgeFailuresIgnored')).toBe(100 - edgeFailureBurst)
  })

  it('are not ordered where there is no common transport', () => {
    const story = new TrackerStory()
    const reachable: Contact = { addresses: [{ kind: 'websocket', text: 'ws://h:1' }], dials: ['websocket'] }
    const dialOnly: Contact = { addresses: [], dials: ['websocket'] }
    const contacts = new Map<NodeId, Contact>()
    for (let n = 1; n <= 40; n++) {
      contacts.set(nodeId(n), n % 4 === 0 ? dialOnly : reachable)
      story.connect(nodeId(n), contacts.get(nodeId(n)))
      story.packet(nodeId(n), statusOf(partA))
      story.advance(100)
    }
    for (const [a, b] of topologyOf(story).edges())
      expect(contacts.get(a) === dialOnly && contacts.get(b) === dialOnly).toBe(false)
  })

  it('forget the oldest avoided pairs when there are too many', () => {
    const story = storyOf(30, { limits: { maxAvoidedPairs: 3 } })
    for (let n = 1; n <= 5; n++) {
      const id = nodeId(n)
      story.packet(id, statusOf(partA, 0, [], [{ nodeId: neighbourOf(story, id), reason: 'lost' }]))
    }
    expect(story.core.counters.get('avoidedPairsDropped')).toBe(2)
  })
})

describe('a node whose connection to the tracker is gone', () => {
  it('keeps its place for the grace time', () => {
    const story = storyOf(12)
    story.disconnect(n1)
    expect(story.advance(1_999)).toEqual([])
    story.connect(n1)
    story.packet(n1, statusOf(partA, counterOf(story, n1)))
    expect(story.advance(60_000)).toEqual([])
  })

  it('loses it afterwards', () => {
    const story = storyOf(12)
    const neighbours = topologyOf(story).neighbours(n1)
    story.disconnect(n1)
    const told = instructions(story.advance(2_000)).map(({ to }) => to)
    for (const id of neighbours) expect(told).toContain(id)
    expect(topologyOf(story).has(n1)).toBe(false)
    expect(story.core.counters.get('disconnected')).toBe(1)
  })

  it('loses it at once when two of its neighbours have lost it too', () => {
    const story = storyOf(12)
    const [first = n1, second = n1] = topologyOf(story).neighbours(n1)
    const lost = [{ nodeId: n1, reason: 'lost' }] as const
    story.disconnect(n1)
    expect(story.packet(first, statusOf(partA, counterOf(story, first), [], lost))).toEqual([])
    expect(story.packet(first, statusOf(partA, counterOf(story, first), [], lost))).toEqual([])
    expect(topologyOf(story).has(n1)).toBe(true)
    const told = instructions(story.packet(second, statusOf(partA, counterOf(story, second), [], lost)))
    expect(topologyOf(story).has(n1)).toBe(false)
    expect(told.map(({ to }) => to)).toContain(first)
  })

  it('gets another neighbour for one that lost it when it comes back', () => {
    const story = storyOf(12)
    const loser = neighbourOf(story, n1)
    story.disconnect(n1)
    story.packet(loser, statusOf(partA, counterOf(story, loser), [], [{ nodeId: n1, reason: 'lost' }]))
    story.connect(n1)
    story.packet(n1, statusOf(partA, counterOf(story, n1)))
    expect(topologyOf(story).hasEdge(n1, loser)).toBe(false)
    expect(topologyOf(story).neighbours(n1).size).toBe(4)
  })

  it('gets another neighbour for one that lost it before it came, where a replica has it', () => {
    const story = new TrackerStory()
    const ids = [1, 2, 3, 4, 5, 6, 7].map(nodeId)
    const othersOf = (id: NodeId) => ids.filter((other) => other !== id).slice(0, 4)
    const nodes = ids.map((id) => ({ nodeId: id, contact: webrtcContact, neighbours: othersOf(id) }))
    story.core.replicaOf = () => new Replica(nodes)
    for (const id of ids.slice(1)) {
      story.connect(id)
      story.packet(id, statusOf(partA, 1, othersOf(id)))
    }
    story.advance(10_000)
    const loser = neighbourOf(story, n1)
    story.packet(loser, statusOf(partA, counterOf(story, loser), [], [{ nodeId: n1, reason: 'lost' }]))
    expect(topologyOf(story).hasEdge(n1, loser)).toBe(true)
    story.connect(n1)
    story.packet(n1, statusOf(partA, counterOf(story, n1), othersOf(n1)))
    expect(topologyOf(story).hasEdge(n1, loser)).toBe(false)
    expect([...(story.core.streamParts.get(partA)?.members.get(n1)?.lostBy ?? [])]).toEqual([])
  })

  it('is told its neighbours again when it forgot them', () => {
    const story = storyOf(12)
    const { counter } = story.core.streamParts.get(partA)?.members.get(n1) ?? { counter: 0 }
    const told = instructions(story.join(n1))
    expect(told).toEqual([
      { to: n1, part: partA, counter: counter + 1, neighbours: [...topologyOf(story).neighbours(n1)] },
    ])
  })

  it('loses its place in stream parts it no longer reports', () => {
    const story = storyOf(12)
    story.packet(n1, statusOf(partB))
    story.connect(n1)
    story.packet(n1, statusOf(partB, 1))
    story.advance(15_000)
    expect(topologyOf(story).has(n1)).toBe(false)
    expect(story.core.streamParts.get(partB)?.size).toBe(1)
    expect(story.core.counters.get('unconfirmed')).toBe(1)
  })
})

describe('contacts', () => {
  it('that change are told to the neighbours', () => {
    const story = storyOf(12)
    const contact: Contact = {
      addresses: [
        { kind: 'websocket', text: 'wss://h:1' },
        { kind: 'webrtc', text: '' },
      ],
      dials: ['websocket', 'webrtc'],
    }
    const neighbours = topologyOf(story).neighbours(n1)
    const effects = story.packet(n1, { type: 'nodeInfo', contact })
    expect(new Set(instructions(effects).map(({ to }) => to))).toEqual(neighbours)
    expect(JSON.stringify(effects)).toContain('wss://h:1')
    story.advance(1_000)
    expect(story.packet(n1, { type: 'nodeInfo', contact })).toEqual([])
  })

  it('may change when a node has just reported all its stream parts twice, but not again and again', () => {
    const story = storyOf(1, { limits: { statusBurst: 8, statusesPerSecond: 0 } })
    story.packet(n1, statusOf(partB))
    for (const part of [partA, partB]) story.packet(n1, statusOf(part, 1))
    const change = (port: number) => {
      const addresses = [{ kind: 'circuit', text: `wss://h:${port}` }]
      return codes(story.packet(n1, { type: 'nodeInfo', contact: { addresses, dials: ['circuit'] } }))
    }
    expect([change(1), change(2)]).toEqual([[], []])
    expect(change(3)).toEqual(['TOO_MANY_PACKETS'])
  })
})

describe('signals', () => {
  it('pass between neighbours, with the real sender', () => {
    const story = storyOf(12)
    const target = neighbourOf(story, n1)
    expect(story.packet(n1, offer(target))).toEqual([{ type: 'send', to: target, packet: offer(n1) }])
  })

  it('pass a while longer when the edge is no longer wanted', () => {
    const story = storyOf(12)
    const target = neighbourOf(story, n1)
    story.packet(n1, statusOf(partA, counterOf(story, n1), [], [{ nodeId: target, reason: 'timeout' }]))
    story.advance(29_000)
    expect(story.packet(target, offer(n1))).toEqual([{ type: 'send', to: n1, packet: offer(target) }])
    story.advance(2_000)
    expect(codes(story.packet(target, offer(n1)))).toEqual(['SIGNAL_NOT_ALLOWED'])
  })

  it('do not pass to strangers, or to nobody', () => {
    const story = storyOf(3)
    story.join(nodeId(50), partB)
    expect(codes(story.packet(nodeId(50), offer(n1)))).toEqual(['SIGNAL_NOT_ALLOWED'])
    expect(codes(story.packet(n1, offer(nodeId(77))))).toEqual(['SIGNAL_TARGET_UNKNOWN'])
    story.disconnect(n2)
    expect(codes(story.packet(n1, offer(n2)))).toEqual(['SIGNAL_TARGET_UNKNOWN'])
  })

  it('are limited, and so are the errors they bring', () => {
    const story = storyOf(3, {
      limits: { signalBurst: 2, signalsPerSecond: 1, errorBurst: 1, errorsPerSecond: 0 },
    })
    const outcome = [1, 2, 3, 4].map(() => story.packet(n1, offer(n2)))
    expect(outcome.map(codes)).toEqual([[], [], ['SIGNAL_RATE'], ['TOO_MANY_PACKETS']])
    expect(story.core.counters.get('signalsRefused')).toBe(2)
    expect(story.core.counters.get('floodsRefused')).toBe(1)
  })

  it('forget the oldest former edges when there are too many', () => {
    const story = storyOf(30, { limits: { maxSignalPermits: 10 } })
    for (let n = 1; n <= 20; n++) story.packet(nodeId(n), { type: 'leave', streamPartId: partA })
    story.advance(1_000)
    expect(story.core.counters.get('signalPermitsDropped')).toBeGreaterThan(0)
  })
})

describe('limits', () => {
  it('bound the nodes', () => {
    const story = storyOf(3, { limits: { maxNodes: 3 } })
    expect(codes(story.join(nodeId(4)))).toEqual(['TOO_MANY_NODES'])
    expect(story.core.nodes.size).toBe(3)
    expect(story.core.counters.get('nodesRefused')).toBe(1)
  })

  it('bound the stream parts of one node, and of all', () => {
    const perNode = storyOf(1, { limits: { maxStreamPartsPerNode: 1 } })
    expect(codes(perNode.packet(n1, statusOf(partB)))).toEqual(['TOO_MANY_STREAM_PARTS'])
    const all = storyOf(1, { limits: { maxStreamParts: 1 } })
    expect(codes(all.join(n2, partB))).toEqual(['TOO_MANY_STREAM_PARTS'])
    expect(codes(all.packet(n2, statusOf(partA)))).toEqual([])
    expect(all.core.counters.get('streamPartsRefused')).toBe(1)
  })

  it('bound what a node is told of its errors, and not whether it stays', () => {
    const story = storyOf(1, { limits: { maxStreamPartsPerNode: 1, errorBurst: 2, errorsPerSecond: 0 } })
    const told = [1, 2, 3, 4].flatMap(() => codes(story.packet(n1, statusOf(partB))))
    expect(told).toEqual(['TOO_MANY_STREAM_PARTS', 'TOO_MANY_STREAM_PARTS'])
  })

  it('bound the statuses of a node, and forgive with time', () => {
    const story = storyOf(1, { limits: { statusBurst: 10, statusesPerSecond: 1 } })
    const until = Array.from({ length: 20 }, () => codes(story.packet(n1, statusOf(partA, 1))))
    expect(until.flat()).toEqual(['TOO_MANY_PACKETS'])
    story.disconnect(n1)
    story.advance(1_000)
    story.advance(9_000)
    expect(codes(story.join(n1))).toEqual([])
  })

  it('make a node introduce itself first', () => {
    const story = new TrackerStory()
    story.core.handle({ type: 'nodeConnected', nodeId: n3 }, 0)
    expect(codes(story.packet(n3, statusOf(partA)))).toEqual(['NODE_INFO_MISSING'])
  })
})
