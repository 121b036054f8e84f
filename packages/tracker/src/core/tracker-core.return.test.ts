import { seededRandom, type NodeId, type Random } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { SimulatedNodes } from './simulated-nodes.testkit.ts'
import { nodeId, partA, statusOf, TrackerStory } from './tracker-core.testkit.ts'

const population = 24
const newcomers = 3
/** The longest pause of a node before it dials, and how long it then waits before it goes home. */
const awayMs = 13_000

type Edge = readonly [NodeId, NodeId]

function formed(seed: number): SimulatedNodes {
  const makeStory = () => new TrackerStory({ seed: `core ${seed}` })
  const faults = { lossRate: 0.05, duplicationRate: 0.1, maxDelayMs: 500 }
  const nodes = new SimulatedNodes(faults, { random: seededRandom(`nodes ${seed}`), makeStory })
  for (let n = 1; n <= population; n++) nodes.join(nodes.start(n), partA)
  nodes.run(30_000, 100)
  return nodes
}

function edgesOf(nodes: SimulatedNodes): Edge[] {
  return [...nodes.nodes.keys()].flatMap((a) =>
    [...nodes.attached(a, partA)].filter((b) => a < b).map((b): Edge => [a, b]),
  )
}

/** What another tracker, where a node once was, still believes of it. */
function tellOldNews(nodes: SimulatedNodes, n: number): void {
  const { story } = nodes
  story.connect(nodeId(n))
  story.packet(nodeId(n), statusOf(partA, 0))
}

/** The tracker is there again, its nodes come home one by one, and others come for the first time. Edges that never went. */
function kept(nodes: SimulatedNodes, random: Random, edges: readonly Edge[]): readonly Edge[] {
  nodes.restartTracker(awayMs)
  const joinAtMs = Array.from({ length: newcomers }, () => random.next() * 5_000)
  const oldNewsAtMs = Array.from({ length: 3 }, () => random.next() * 2_000)
  let left = edges
  for (let ms = 0; ms < 40_000; ms += 50) {
    nodes.run(50)
    for (const [i, atMs] of joinAtMs.entries())
      if (atMs >= ms && atMs < ms + 50) nodes.join(nodes.start(population + 1 + i), partA)
    for (const [i, atMs] of oldNewsAtMs.entries())
      if (atMs >= ms && atMs < ms + 50) tellOldNews(nodes, 1 + 7 * i)
    left = left.filter(([a, b]) => nodes.attached(a, partA).has(b))
  }
  return left
}

describe('a tracker whose nodes come home one by one, while others come for the first time', () => {
  for (let seed = 1; seed <= 20; seed++) {
    it(`takes nothing apart but for the newcomers (seed ${seed})`, () => {
      const nodes = formed(seed)
      const edges = edgesOf(nodes)
      expect(edges.length).toBe(2 * population)
      const left = kept(nodes, seededRandom(`events ${seed}`), edges)
      // Each newcomer is put into two edges, and an edge to it that cannot be had is replaced at the cost of another.
      const failed = nodes.story.core.counters.get('edgesFailed')
      expect(edges.length - left.length).toBeLessThanOrEqual(2 * newcomers + failed)
      expect(edgesOf(nodes).length).toBe(2 * (population + newcomers))
    })
  }
})
