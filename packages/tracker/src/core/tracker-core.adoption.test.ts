import { seededRandom, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { OverlayTopology } from './topology/overlay-topology.ts'
import {
  instructions,
  nodeId,
  partA,
  partB,
  statusOf,
  TrackerStory,
  webrtcContact,
} from './tracker-core.testkit.ts'

function overlay(size: number): OverlayTopology<NodeId> {
  const topology = new OverlayTopology<NodeId>({ degree: 4 }, { random: seededRandom('overlay') })
  for (let n = 1; n <= size; n++) topology.add(nodeId(n))
  return topology
}

function reportAll(story: TrackerStory, topology: OverlayTopology<NodeId>, counter = 7): void {
  for (const id of topology.nodes()) {
    story.connect(id)
    story.packet(id, statusOf(partA, counter, [...topology.neighbours(id)]))
    story.advance(5)
  }
}

function sameIds(a: readonly NodeId[], b: ReadonlySet<NodeId>): boolean {
  return a.length === b.size && a.every((id) => b.has(id))
}

/** Everybody, and nobody to change anything. */
function expectToldAsBefore(story: TrackerStory, before: OverlayTopology<NodeId>): void {
  const told = instructions(story.effects)
  expect(new Set(told.map(({ to }) => to))).toEqual(new Set(before.nodes()))
  for (const { to, neighbours } of told) expect(new Set(neighbours)).toEqual(before.neighbours(to))
}

describe('a tracker that was restarted', () => {
  it('takes over an overlay of 100 nodes as it is, and tells each what it has', () => {
    const story = new TrackerStory()
    const before = overlay(100)
    reportAll(story, before)
    story.advance(10_000)
    expectToldAsBefore(story, before)
    const after = story.core.streamParts.get(partA)?.topology
    for (const id of before.nodes()) expect(after?.neighbours(id)).toEqual(before.neighbours(id))
    expect(story.core.counters.get('adoptedEdges')).toBe(200)
  })

  it('waits for nodes that come back at different times, while nobody else does', () => {
    const story = new TrackerStory()
    const before = overlay(100)
    for (const id of before.nodes()) {
      story.connect(id)
      story.packet(id, statusOf(partA, 7, [...before.neighbours(id)]))
      story.advance(100)
    }
    expectToldAsBefore(story, before)
    expect(story.core.counters.get('adoptedEdges')).toBe(200)
  })

  it('does not let a node without neighbours wait for long', () => {
    const story = new TrackerStory()
    const before = overlay(100)
    const [first, second] = [...before.nodes()]
    for (const id of [first, second]) {
      if (id === undefined) continue
      story.connect(id)
      story.packet(id, statusOf(partA, 7, [...before.neighbours(id)]))
    }
    story.advance(5_000)
    expect(instructions(story.effects)).toEqual([])
    story.join(nodeId(101))
    story.advance(1_500)
    const told = instructions(story.effects)
    expect(told.find(({ to }) => to === nodeId(101))?.neighbours).toHaveLength(2)
  })

  it('replaces only the edges of nodes that did not come back', () => {
    const story = new TrackerStory()
    const before = overlay(100)
    const gone = [nodeId(3), nodeId(50)]
    for (const id of before.nodes()) {
      if (gone.includes(id)) continue
      story.connect(id)
      story.packet(id, statusOf(partA, 7, [...before.neighbours(id)]))
    }
    story.advance(14_000)
    expect(instructions(story.effects)).toEqual([])
    story.advance(1_000)
    const bereft = new Set(
      gone.flatMap((id) => [...before.neighbours(id)]).filter((id) => !gone.includes(id)),
    )
    const told = new Map(instructions(story.effects).map((each) => [each.to, each]))
    for (const id of bereft) expect(told.has(id)).toBe(true)
    // A free slot is filled by another, or by cutting one edge in between.
    const changed = [...told].filter(([id, { neighbours }]) => !sameIds(neighbours, before.neighbours(id)))
    expect(changed.length).toBeLessThanOrEqual(2 * bereft.size)
    for (const each of told.values()) expect(each.counter).toBe(8)
    const after = story.core.streamParts.get(partA)?.topology
    const kept = [...before.edges()].filter(([a, b]) => after?.hasEdge(a, b)).length
    expect(kept).toBeGreaterThanOrEqual(200 - 2 * 8)
  })

  it('goes on counting where its nodes are', () => {
    const story = new TrackerStory()
    reportAll(story, overlay(30), 41)
    story.advance(2_000)
    const told = instructions(story.join(nodeId(31)))
    expect(told.map(({ to, counter }) => [to === nodeId(31), counter]).sort()).toEqual([
      [false, 43],
      [false, 43],
      [false, 43],
      [false, 43],
      [true, 1],
    ])
  })

  it('believes an edge only when both ends claim it', () => {
    const story = new TrackerStory()
    const before = overlay(20)
    const liar = nodeId(99)
    story.connect(liar)
    story.packet(liar, statusOf(partA, 1, [...before.nodes()]))
    reportAll(story, before)
    story.advance(1_500)
    const after = story.core.streamParts.get(partA)?.topology
    expect(after?.neighbours(liar).size).toBe(4)
    const kept = [...before.edges()].filter(([a, b]) => after?.hasEdge(a, b)).length
    expect(kept).toBe(38)
    // Nor may it signal to those it named.
    const stranger = [...before.nodes()].find((id) => !after?.hasEdge(id, liar)) ?? liar
    const [effect] = story.packet(liar, {
      type: 'signal',
      peerId: stranger,
      sessionId: 1,
      kind: 'offer',
      payload: '',
    })
    expect(effect).toMatchObject({ to: liar, packet: { code: 'SIGNAL_NOT_ALLOWED' } })
  })

  it('waits for claimed neighbours no longer than the window', () => {
    const story = new TrackerStory()
    story.connect(nodeId(1))
    story.packet(nodeId(1), statusOf(partA, 3, [nodeId(2)]))
    expect(instructions(story.join(nodeId(5)))).toEqual([])
    expect(instructions(story.advance(1_499))).toEqual([])
    expect(instructions(story.advance(1)).map(({ to, neighbours }) => [to, neighbours])).toEqual([
      [nodeId(5), [nodeId(1)]],
      [nodeId(1), [nodeId(5), nodeId(2)]],
    ])
    story.packet(nodeId(5), statusOf(partA, 1, [nodeId(1)]))
    story.packet(nodeId(1), statusOf(partA, 4, [nodeId(5)]))
    expect(instructions(story.advance(13_499))).toEqual([])
    expect(instructions(story.advance(1)).toSorted((one, other) => (one.to < other.to ? -1 : 1))).toEqual([
      { to: nodeId(1), part: partA, counter: 5, neighbours: [nodeId(5)] },
      { to: nodeId(5), part: partA, counter: 2, neighbours: [nodeId(1)] },
    ])
  })

  it('believes no report that is older than the one before', () => {
    const story = new TrackerStory()
    const before = overlay(20)
    const [first, ...others] = [...before.nodes()]
    const late = others.pop()
    const report = (id: NodeId | undefined, counter = 7): void => {
      if (id === undefined) return
      story.connect(id)
      story.packet(id, statusOf(partA, counter, counter === 0 ? [] : [...before.neighbours(id)]))
    }
    report(first)
    for (const id of others) report(id)
    // By another tracker, which has it from when the node came.
    report(first, 0)
    expect(instructions(story.advance(5_000))).toEqual([])
    report(late)
    expectToldAsBefore(story, before)
  })
})

describe('a node without neighbours, while an overlay is taken over', () => {
  const before = overlay(40)
  const newcomer = nodeId(41)

  function report(story: TrackerStory, from: number, to: number): void {
    for (const id of [...before.nodes()].slice(from, to)) {
      story.connect(id)
      story.packet(id, statusOf(partA, 7, [...before.neighbours(id)]))
    }
  }

  function expectTemporaryEdges(story: TrackerStory): void {
    const told = new Map(instructions(story.advance(1_500)).map(({ to, neighbours }) => [to, neighbours]))
    const hosts = told.get(newcomer) ?? []
    expect(hosts.length).toBe(4)
    expect(new Set(told.keys())).toEqual(new Set([newcomer, ...hosts]))
    for (const host of hosts)
      expect(new Set(told.get(host))).toEqual(new Set([...before.neighbours(host), newcomer]))
  }

  /** An edge less for each two that the newcomer gets. */
  function expectTakenOver(story: TrackerStory): void {
    const after = story.core.streamParts.get(partA)?.topology
    expect(after?.neighbours(newcomer).size).toBe(4)
    expect([...before.edges()].filter(([a, b]) => after?.hasEdge(a, b)).length).toBe(78)
    const told = new Map(instructions(story.effects).map(({ to, neighbours }) => [to, neighbours]))
    for (const [id, neighbours] of told) expect(new Set(neighbours)).toEqual(after?.neighbours(id))
    expect(told.size).toBe(41)
  }

  it('gets temporary edges to some of its nodes, which keep all they have, known here or not', () => {
    const story = new TrackerStory()
    report(story, 0, 20)
    story.join(newcomer)
    expectTemporaryEdges(story)
    expect(story.core.counters.get('adoptions')).toBe(0)
    report(story, 20, 40)
    story.advance(100)
    expectTakenOver(story)
  })

  it('is so also when it came first', () => {
    const story = new TrackerStory()
    story.join(newcomer)
    story.advance(1_000)
    report(story, 0, 20)
    expectTemporaryEdges(story)
    report(story, 20, 40)
    story.advance(100)
    expectTakenOver(story)
  })

  it('leaves no temporary edge behind where several came first', () => {
    const story = new TrackerStory()
    const early = [41, 42, 43, 44, 45, 46, 47, 48].map(nodeId)
    for (const id of early) {
      story.join(id)
      story.advance(100)
    }
    report(story, 0, 20)
    story.advance(1_500)
    const temporary = instructions(story.effects).filter(
      ({ to, neighbours }) => early.includes(to) && neighbours.some((id) => before.has(id)),
    )
    expect(temporary.length).toBeGreaterThan(0)
    report(story, 20, 40)
    story.advance(1_000)
    const after = story.core.streamParts.get(partA)?.topology
    const told = new Map(instructions(story.effects).map(({ to, neighbours }) => [to, neighbours]))
    expect(told.size).toBe(48)
    for (const [id, neighbours] of told) expect(new Set(neighbours)).toEqual(after?.neighbours(id))
  })

  it('brings a liar that is its host nothing about those it claims', () => {
    const story = new TrackerStory()
    const [liar, victim] = [nodeId(98), nodeId(99)]
    story.join(victim, partB)
    story.connect(liar)
    story.packet(liar, statusOf(partA, 7, [victim, nodeId(97)]))
    story.join(newcomer)
    story.advance(1_500)
    const packets = story.effects.flatMap((effect) => (effect.type === 'send' ? effect : []))
    const told = packets.flatMap(({ to, packet }) =>
      to === liar && packet.type === 'instruction' ? packet.neighbours : [],
    )
    expect(told.map((it) => it.nodeId)).toEqual([newcomer, victim, nodeId(97)])
    const nothing = { addresses: [], dials: [] }
    expect(told.map((it) => it.contact)).toEqual([webrtcContact, nothing, nothing])
    const signal = { type: 'signal', peerId: victim, sessionId: 1, kind: 'offer', payload: '' } as const
    expect(story.packet(liar, signal)).toMatchObject([{ to: liar, packet: { code: 'SIGNAL_NOT_ALLOWED' } }])
  })

  it('burdens no node, and no instruction, with more than there is room for', () => {
    const story = new TrackerStory()
    const many = Array.from({ length: 64 }, (_, i) => nodeId(200 + i))
    story.connect(nodeId(98))
    story.packet(nodeId(98), statusOf(partA, 7, many))
    report(story, 0, 20)
    for (let n = 300; n < 400; n++) story.join(nodeId(n))
    story.advance(1_500)
    for (const { to, neighbours } of instructions(story.effects))
      story.packet(to, statusOf(partA, 9, to === nodeId(300) ? many : neighbours))
    story.advance(1_500)
    const told = instructions(story.effects)
    expect(new Set(told.map(({ to }) => to)).size).toBeGreaterThan(100)
    for (const { to, neighbours } of told)
      expect(neighbours.length).toBeLessThanOrEqual(to === nodeId(300) ? 64 : 12)
    expect(told.some(({ to }) => to === nodeId(98))).toBe(false)
  })

  it('gets another host for one that it cannot reach', () => {
    const story = new TrackerStory()
    report(story, 0, 20)
    story.join(newcomer)
    const hosts = instructions(story.advance(1_500)).find(({ to }) => to === newcomer)?.neighbours ?? []
    const failed = hosts.map((id) => ({ nodeId: id, reason: 'timeout' as const }))
    story.packet(newcomer, statusOf(partA, 1, [], failed))
    const next = instructions(story.advance(1_500)).findLast(({ to }) => to === newcomer)?.neighbours ?? []
    expect(next.length).toBe(4)
    expect(next.filter((id) => hosts.includes(id))).toEqual([])
  })

  it('waits for nobody where no node of the overlay is there', () => {
    const story = new TrackerStory()
    report(story, 0, 1)
    story.join(newcomer)
    story.join(nodeId(42))
    story.disconnect([...before.nodes()][0] ?? newcomer)
    story.advance(2_000)
    story.advance(1_500)
    expect(story.core.streamParts.get(partA)?.topology.hasEdge(newcomer, nodeId(42))).toBe(true)
  })
})
