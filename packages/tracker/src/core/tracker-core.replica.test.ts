import { parseStreamPartId, seededRandom, toStreamId, toStreamPartId, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { Replica } from './replica.ts'
import { OverlayTopology } from './topology/overlay-topology.ts'
import {
  codes,
  instructions,
  nodeId,
  partA,
  partB,
  statusOf,
  storing,
  TrackerStory,
  webrtcContact,
} from './tracker-core.testkit.ts'

function overlay(size: number): OverlayTopology<NodeId> {
  const topology = new OverlayTopology<NodeId>({ degree: 4 }, { random: seededRandom('replica') })
  for (let n = 1; n <= size; n++) topology.add(nodeId(n))
  return topology
}

function replicaOf(topology: OverlayTopology<NodeId>): Replica {
  return new Replica(
    [...topology.nodes()].map((id) => ({
      ...{ nodeId: id, contact: webrtcContact, neighbours: [...topology.neighbours(id)] },
    })),
  )
}

function expectReplica(story: TrackerStory, replica: Replica): void {
  story.core.replicaOf = (id) => (id === partA ? replica : undefined)
  story.core.handle({ type: 'replica', streamPartId: partA, replica }, story.now)
}

function report(story: TrackerStory, id: NodeId, neighbours: Iterable<NodeId>): void {
  story.connect(id)
  story.packet(id, statusOf(partA, 7, [...neighbours]))
}

const edgesAt = (story: TrackerStory) =>
  new Set(
    [...(story.core.streamParts.get(partA)?.topology.edges() ?? [])].map((edge) => [...edge].sort().join()),
  )
const edgesOf = (topology: OverlayTopology<NodeId>) =>
  new Set([...topology.edges()].map((edge) => [...edge].sort().join()))

describe('a tracker that takes an overlay over from a replica', () => {
  it('has all of it with the first report, and tells each what it has', () => {
    const story = new TrackerStory()
    const before = overlay(50)
    expectReplica(story, replicaOf(before))
    report(story, nodeId(1), before.neighbours(nodeId(1)))
    expect(edgesAt(story)).toEqual(edgesOf(before))
    for (let n = 2; n <= 50; n++) {
      story.advance(100)
      report(story, nodeId(n), before.neighbours(nodeId(n)))
    }
    story.advance(20_000)
    const told = instructions(story.effects)
    expect(new Set(told.map(({ to }) => to)).size).toBe(50)
    for (const { to, neighbours } of told) expect(new Set(neighbours)).toEqual(before.neighbours(to))
    expect(edgesAt(story)).toEqual(edgesOf(before))
  })

  it('has it also when the registry answers late, whatever is reported meanwhile', () => {
    let isKnown = false
    const story = new TrackerStory({
      registry: {
        readsForMs: () => (isKnown ? Infinity : undefined),
        mayPublish: () => (isKnown ? true : undefined),
        membershipForMs: () => Infinity,
      },
    })
    const before = overlay(5)
    expectReplica(story, replicaOf(before))
    report(story, nodeId(1), before.neighbours(nodeId(1)))
    story.connect(nodeId(9))
    story.packet(nodeId(9), statusOf(partB, 7, []))
    expect(edgesAt(story)).toEqual(new Set())
    isKnown = true
    for (const effect of story.effects)
      if (effect.type === 'resolve') story.handle({ ...effect, type: 'userResolved', found: true })
    expect(edgesAt(story)).toEqual(edgesOf(before))
  })

  it('lets a new node in at once, among nodes that have not reported yet', () => {
    const story = new TrackerStory()
    const before = overlay(50)
    expectReplica(story, replicaOf(before))
    const told = instructions(story.join(nodeId(51)))
    expect(told).toMatchObject([{ to: nodeId(51), neighbours: { length: 4 } }])
    expect([...edgesOf(before)].filter((edge) => !edgesAt(story).has(edge)).length).toBe(2)
  })

  it('keeps a new node that signals to all its neighbours in many stream parts before they report', () => {
    const story = new TrackerStory()
    const newcomer = nodeId(1)
    const replicas = new Map(
      Array.from({ length: 100 }, (_, part) => {
        const ids = [0, 1, 2, 3].map((n) => nodeId(100 + 4 * part + n))
        const nodes = ids.map((id) => ({ nodeId: id, contact: webrtcContact, neighbours: ids }))
        return [
          toStreamPartId(toStreamId(`${parseStreamPartId(partA).streamId}/many`), part),
          new Replica(nodes),
        ]
      }),
    )
    story.core.replicaOf = (id) => replicas.get(id)
    story.connect(newcomer)
    const told = [...replicas.keys()].flatMap((id) => instructions(story.packet(newcomer, statusOf(id))))
    expect(told.flatMap(({ neighbours }) => neighbours).length).toBe(400)
    const answers = told.flatMap(({ neighbours }) =>
      neighbours.flatMap((peerId) =>
        (['offer', 'candidate', 'candidate'] as const).flatMap((kind) =>
          codes(story.packet(newcomer, { type: 'signal', peerId, sessionId: 1, kind, payload: 'x' })),
        ),
      ),
    )
    expect(new Set(answers)).toEqual(new Set(['SIGNAL_TARGET_UNKNOWN']))
    expect(story.core.counters.get('signalsToUnknown')).toBe(1_200)
  })

  it('believes nodes more: an edge that one end denies is left out, and a stranger waited for', () => {
    const story = new TrackerStory()
    const replica = new Replica([
      { nodeId: nodeId(1), contact: webrtcContact, neighbours: [nodeId(2), nodeId(3)] },
      { nodeId: nodeId(2), contact: webrtcContact, neighbours: [nodeId(3)] },
      { nodeId: nodeId(3), contact: webrtcContact, neighbours: [] },
    ])
    expectReplica(story, replica)
    report(story, nodeId(1), [nodeId(9)])
    expect(edgesAt(story).size).toBe(0)
    report(story, nodeId(9), [nodeId(1)])
    expect(edgesAt(story).has([nodeId(1), nodeId(9)].join())).toBe(true)
  })

  it('keeps edges that one end knows nothing of: what it says may be older', () => {
    const story = new TrackerStory()
    const before = overlay(50)
    expectReplica(story, replicaOf(before))
    story.join(nodeId(1))
    for (let n = 2; n <= 50; n++) report(story, nodeId(n), before.neighbours(nodeId(n)))
    expect(edgesAt(story)).toEqual(edgesOf(before))
    const told = instructions(story.effects).find(({ to }) => to === nodeId(1))
    expect(new Set(told?.neighbours)).toEqual(before.neighbours(nodeId(1)))
  })

  it('forgets nodes that do not come, and fills their places', () => {
    const story = new TrackerStory()
    const before = overlay(10)
    expectReplica(story, replicaOf(before))
    for (let n = 1; n <= 8; n++) report(story, nodeId(n), before.neighbours(nodeId(n)))
    // Nodes come back within 13 s: ten between two dials, and three until they trust the connection.
    story.advance(13_000)
    expect(story.core.nodes.size).toBe(10)
    story.advance(2_000)
    expect(story.core.nodes.size).toBe(8)
    expect(edgesAt(story).size).toBe(16)
  })

  it('expects no more nodes than it has room for, and ignores a replica that comes too late', () => {
    const story = new TrackerStory({ limits: { maxNodes: 20 } })
    expectReplica(story, replicaOf(overlay(50)))
    story.join(nodeId(51))
    expect(story.core.nodes.size).toBe(20)
    expectReplica(story, replicaOf(overlay(50)))
    expect(story.core.counters.get('replicasIgnored')).toBe(1)
  })
})

describe('a stream part that another tracker leads again', () => {
  it('sends its nodes there, and nothing more', () => {
    const story = new TrackerStory()
    const before = overlay(10)
    for (let n = 1; n <= 10; n++) report(story, nodeId(n), before.neighbours(nodeId(n)))
    story.packet(nodeId(1), storing(partA))
    story.effects.length = 0
    const leaderId = nodeId(99)
    story.handle({ type: 'handOver', streamPartId: partA, leaderId })
    story.advance(60_000)
    const redirect = { type: 'redirect', streamPartId: partA, leaderId }
    const sent = story.effects.filter(({ type }) => type === 'send')
    expect(sent.map((effect) => 'packet' in effect && effect.packet)).toEqual(Array(10).fill(redirect))
    expect(story.core.streamParts.size).toBe(0)
    expect(story.core.counters.get('handedOver')).toBe(10)
  })
})
