import { toStreamId, toStreamPartId, type NodeId, type StreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import {
  codes,
  findStorage,
  nodeId,
  partA,
  statusOf,
  TrackerStory,
  webrtcContact,
} from './tracker-core.testkit.ts'

const part = (n: number): StreamPartId => toStreamPartId(toStreamId(`0x${'ab'.repeat(20)}/shares`), n)

/** A node of a network joins some stream parts. */
function join(story: TrackerStory, id: NodeId, network: string, ...parts: StreamPartId[]) {
  story.connect(id, webrtcContact, network)
  return parts.flatMap((each) => story.packet(id, statusOf(each)))
}

const refused = (story: TrackerStory) =>
  story.effects.flatMap((effect) => (effect.type === 'refuse' ? [[effect.to, effect.code]] : []))

describe('the places for nodes', () => {
  it('are shared out by networks: the newest of the heaviest goes, and its neighbours are told', () => {
    const story = new TrackerStory({ limits: { maxNodes: 8 } })
    for (let n = 1; n <= 8; n++) join(story, nodeId(n), 'many', partA)
    join(story, nodeId(20), 'few', partA)
    expect(refused(story)).toEqual([[nodeId(8), 'TOO_MANY_NODES']])
    expect([...(story.core.streamParts.get(partA)?.members.keys() ?? [])]).not.toContain(nodeId(8))
    join(story, nodeId(9), 'many', partA)
    expect(refused(story).at(-1)).toEqual([nodeId(9), 'TOO_MANY_NODES'])
    expect(story.core.nodes.size).toBe(8)
    expect(
      ['nodesRefused', 'nodesEvicted'].map((name) => story.core.counters.get(name as 'nodesRefused')),
    ).toEqual([1, 1])
  })

  it('leave each of many networks its share, whoever came first', () => {
    const story = new TrackerStory({ limits: { maxNodes: 20 } })
    for (let n = 1; n <= 40; n++) join(story, nodeId(n), 'many')
    for (let n = 101; n <= 110; n++) join(story, nodeId(n), `network ${n}`, partA)
    const here = [...story.core.nodes.keys()]
    expect(here.filter((id) => Number(id) > 100)).toHaveLength(10)
    expect(here.filter((id) => Number(id) <= 10)).toHaveLength(10)
  })

  it('are as one network for all whose address nobody knows', () => {
    const story = new TrackerStory({ limits: { maxNodes: 4 } })
    for (let n = 1; n <= 4; n++) story.connect(nodeId(n))
    join(story, nodeId(9), 'known')
    expect(refused(story)).toEqual([[nodeId(4), 'TOO_MANY_NODES']])
  })

  it('go with a node to the network that it connects from anew', () => {
    const story = new TrackerStory({ limits: { maxNodes: 3 } })
    join(story, nodeId(1), 'a')
    join(story, nodeId(2), 'a')
    join(story, nodeId(3), 'b')
    story.disconnect(nodeId(2))
    story.open(nodeId(2), 'b')
    join(story, nodeId(4), 'c')
    expect(refused(story)).toEqual([[nodeId(2), 'TOO_MANY_NODES']])
  })

  it('are taken back from who does not say in time how it is reached', () => {
    const story = new TrackerStory()
    story.open(nodeId(1))
    story.join(nodeId(2))
    expect(codes(story.advance(9_999))).toEqual([])
    expect(codes(story.advance(1))).toEqual(['NODE_INFO_MISSING'])
    story.disconnect(nodeId(1))
    story.advance(3_000)
    expect([...story.core.nodes.keys()]).toEqual([nodeId(2)])
    expect(story.core.counters.get('nodesWithoutInfo')).toBe(1)
  })

  it('are taken back from who is in no stream part and asks for nothing', () => {
    const story = new TrackerStory()
    for (const n of [1, 2, 3]) story.connect(nodeId(n))
    story.packet(nodeId(2), statusOf(partA))
    story.advance(110_000)
    story.packet(nodeId(3), findStorage())
    story.packet(nodeId(2), { type: 'leave', streamPartId: partA })
    story.advance(10_000)
    expect(refused(story)).toEqual([[nodeId(1), 'NODE_IDLE']])
    story.advance(120_000)
    expect(refused(story).map(([id]) => id)).toEqual([nodeId(1), nodeId(3), nodeId(2)])
    expect(story.core.counters.get('nodesIdle')).toBe(3)
  })
})

describe('the places for stream parts', () => {
  it('are shared out by the networks that keep them alive, and nodes are told what was given up', () => {
    const story = new TrackerStory({ limits: { maxStreamParts: 10 } })
    for (let n = 0; n < 20; n++) join(story, nodeId(1 + (n % 4)), 'many', part(n))
    expect([story.core.streamParts.size, story.core.counters.get('streamPartsRefused')]).toEqual([10, 10])
    const told = join(story, nodeId(100), 'few', part(50))
    expect(codes(told)).toEqual(['TOO_MANY_STREAM_PARTS'])
    expect(told[0]).toMatchObject({ to: nodeId(2), packet: { message: expect.stringContaining(part(9)) } })
    expect([story.core.streamParts.size, story.core.streamParts.has(part(50))]).toEqual([10, true])
    expect(story.core.counters.get('streamPartsEvicted')).toBe(1)
    expect(codes(join(story, nodeId(5), 'many', part(60)))).toEqual(['TOO_MANY_STREAM_PARTS'])
  })

  it('stay for a stream part of a light network, though a node of the heaviest came first', () => {
    const story = new TrackerStory({ limits: { maxStreamParts: 10 } })
    for (let n = 0; n < 10; n++) join(story, nodeId(1), 'many', part(n))
    for (const n of [7, 8, 9]) join(story, nodeId(50 + n), `network ${n}`, part(n))
    for (let n = 20; n < 23; n++) join(story, nodeId(100), 'few', part(n))
    const kept = [0, 1, 2, 3, 7, 8, 9, 20, 21, 22]
    expect(new Set(story.core.streamParts.keys())).toEqual(new Set(kept.map(part)))
  })

  it('cannot be held by two networks that are in each other’s stream parts', () => {
    const story = new TrackerStory({ limits: { maxStreamParts: 12 } })
    for (let n = 0; n < 12; n++) {
      join(story, nodeId(1), 'one', part(n))
      join(story, nodeId(2), 'other', part(n))
    }
    for (let n = 20; n < 24; n++) join(story, nodeId(n), 'few', part(n))
    expect([20, 21, 22, 23].filter((n) => story.core.streamParts.has(part(n)))).toHaveLength(4)
    expect(story.core.streamParts.size).toBe(12)
  })
})
