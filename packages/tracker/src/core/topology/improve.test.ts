import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OverlayTopology } from './overlay-topology.ts'
import { randomEdgesPerNode } from './random-edges.ts'
import { seededRandom } from './random.testkit.ts'
import { changedBetween, faultsOf, pictureOf } from './topology.testkit.ts'

/** Nodes on a line, in groups of ten; within a group all are as near. */
const distanceMs = (a: string, b: string) =>
  1 + 20 * Math.abs(Math.floor(Number(a) / 10) - Math.floor(Number(b) / 10))
const proximity = { distanceMs, mayChange: () => true }

function grown(size: number, degree = 4, seed = 1): OverlayTopology<string> {
  const topology = new OverlayTopology<string>({ degree }, { random: seededRandom(seed) })
  for (let i = 0; i < size; i++) topology.add(String(i))
  return topology
}

function meanEdgeMs(topology: OverlayTopology<string>): number {
  let sum = 0
  for (const [a, b] of topology.edges()) sum += distanceMs(a, b)
  return sum / topology.edgeCount
}

function improveAll(topology: OverlayTopology<string>, rounds: number): void {
  for (let round = 0; round < rounds; round++)
    for (const id of topology.nodes()) topology.exchange(id, proximity)
}

describe('improving an overlay', () => {
  it('makes edges shorter, and then comes to rest', () => {
    const topology = grown(400)
    const before = meanEdgeMs(topology)
    improveAll(topology, 60)
    expect(meanEdgeMs(topology)).toBeLessThan(before / 2)
    const edges = pictureOf(topology)
    improveAll(topology, 1)
    expect(changedBetween(edges, pictureOf(topology)).size).toBeLessThan(8)
  })

  it('leaves no node with neighbours in one group only that is not its own', () => {
    const topology = grown(400)
    const group = (id: string) => Math.floor(Number(id) / 10)
    const stranded = () =>
      [...topology.nodes()].filter((id) => {
        const groups = new Set([...topology.neighbours(id)].map(group))
        return groups.size === 1 && !groups.has(group(id))
      })
    let refused = 0
    for (let round = 0; round < 60; round++)
      for (const id of topology.nodes())
        if (topology.exchange(id, proximity).outcome === 'stranding') refused++
    expect(refused).toBeGreaterThan(0)
    expect(stranded()).toEqual([])
  })

  it('gives nodes with short last miles their random edges to each other, and so those with long ones', () => {
    const topology = grown(400)
    const lastMileMs = (id: string) => (Number(id) % 2) * 20
    const withLastMile = (a: string, b: string) => distanceMs(a, b) + lastMileMs(a) + lastMileMs(b)
    const mixedShare = () => {
      const random = [...topology.edges()].filter(([a, b]) => !topology.isNear(a, b))
      return random.filter(([a, b]) => lastMileMs(a) !== lastMileMs(b)).length / random.length
    }
    expect(mixedShare()).toBeGreaterThan(0.4)
    for (let round = 0; round < 30; round++)
      for (const id of topology.nodes())
        topology.exchange(id, { distanceMs: withLastMile, mayChange: () => true })
    expect(mixedShare()).toBeLessThan(0.25)
    expect(faultsOf(topology, 4)).toEqual([])
  })

  it('keeps degrees exact, the graph connected and random edges at every node, whatever happens between', () => {
    const run = fc.property(
      fc.integer(),
      fc.constantFrom(2, 3, 4, 5, 8),
      fc.integer({ min: 2, max: 60 }),
      (seed, degree, size) => {
        const topology = grown(size, degree, seed)
        const random = seededRandom(~seed)
        for (let step = 0; step < 200; step++) {
          const id = String(Math.floor(random.next() * size))
          const before = pictureOf(topology)
          const dice = random.next()
          const [edge] = [...topology.neighbours(id)]
          if (dice < 0.8) {
            const { outcome, changed } = topology.exchange(id, proximity)
            expect(changed).toEqual(changedBetween(before, pictureOf(topology)))
            expect(changed.size).toBe(outcome === 'improved' ? 4 : 0)
          } else if (dice < 0.87) topology.remove(id)
          else if (dice < 0.94) topology.add(id)
          else if (edge !== undefined) topology.failEdge(id, edge)
          expect(faultsOf(topology, degree)).toEqual([])
        }
        const open = topology.size > degree ? (topology.size * degree) % 2 : 0
        const kept = Math.min(randomEdgesPerNode(topology.size, degree), topology.size - 1)
        const lacking = [...topology.nodes()].filter((id) => topology.randomEdges(id) < kept)
        expect(lacking.length).toBeLessThanOrEqual(open)
      },
    )
    fc.assert(run, { numRuns: 60 })
  })

  it('counts all edges as random once all nodes are neighbours of each other', () => {
    const topology = grown(60, 8)
    improveAll(topology, 20)
    const some = [...topology.edges()].filter(([a, b]) => topology.isNear(a, b))
    expect(some.length).toBeGreaterThan(0)
    for (let i = 59; i > 4; i--) topology.remove(String(i))
    for (const id of topology.nodes()) expect(topology.randomEdges(id)).toBe(4)
    for (let i = 5; i < 60; i++) topology.add(String(i))
    for (const id of topology.nodes()) expect(topology.randomEdges(id)).toBe(8)
  })

  it('touches nobody who may not change, and makes no edge that is avoided or of unknown length', () => {
    const topology = new OverlayTopology<string>(
      { degree: 4 },
      { random: seededRandom(3), avoid: (a, b) => Number(a) % 7 === 0 && Number(b) % 7 === 0 },
    )
    for (let i = 0; i < 400; i++) topology.add(String(i))
    const before = pictureOf(topology)
    const picky = {
      distanceMs: (a: string, b: string) =>
        Number(a) % 5 === 1 && Number(b) % 5 === 1 ? undefined : distanceMs(a, b),
      mayChange: (id: string) => Number(id) % 3 !== 0,
    }
    for (let round = 0; round < 20; round++) for (const id of topology.nodes()) topology.exchange(id, picky)
    expect(changedBetween(before, pictureOf(topology)).size).toBeGreaterThan(100)
    for (const [a, b] of topology.edges()) {
      if (before.get(a)?.has(b)) continue
      expect([Number(a) % 3 === 0, Number(b) % 3 === 0]).toEqual([false, false])
      expect(Number(a) % 7 === 0 && Number(b) % 7 === 0).toBe(false)
      expect(picky.distanceMs(a, b)).not.toBe(undefined)
    }
    for (const id of topology.nodes())
      if (!picky.mayChange(id)) expect(topology.neighbours(id)).toEqual(before.get(id))
  })

  it('draws random edges anew where nobody knows how long the edges are that were taken over', () => {
    const edges = [...grown(400).edges()]
    const topology = new OverlayTopology<string>({ degree: 4 }, { random: seededRandom(5) })
    topology.adopt(edges, () => undefined)
    const before = pictureOf(topology)
    improveAll(topology, 1)
    for (const id of topology.nodes()) expect(topology.randomEdges(id)).toBeGreaterThan(0)
    expect(changedBetween(before, pictureOf(topology)).size).toBeGreaterThan(0)
    expect(faultsOf(topology, 4)).toEqual([])
  })
})
