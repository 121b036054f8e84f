import { describe, expect, it } from 'vitest'
import { greatestEccentricity } from './diameter.ts'
import { meanDelayMs, meanDelayOfAllMs, shortestDelaysMs } from './shortest-delays.ts'
import { WeightedGraph } from './weighted-graph.ts'

/** A ring, each node with the one before and the one after. */
const ring = (nodes: number): Int32Array =>
  Int32Array.from({ length: nodes * 2 }, (_, i) => ((i >> 1) + (i % 2 === 0 ? nodes - 1 : 1)) % nodes)

describe('greatestEccentricity', () => {
  it.each([3, 10, 31, 32, 33, 101])('is half of a ring of %d', (nodes) => {
    const all = Array.from({ length: nodes }, (_, node) => node)
    expect(greatestEccentricity(ring(nodes), 2, all)).toBe(Math.floor(nodes / 2))
  })

  it('is infinite when a node cannot be reached', () => {
    expect(greatestEccentricity(Int32Array.of(1, 0, -1), 1, [0])).toBe(Infinity)
  })
})

describe('shortestDelaysMs', () => {
  it('takes the way that is shortest in time, each direction with its own delay', () => {
    const graph = new WeightedGraph(5)
    graph.connect(0, 1, 10, 1)
    graph.connect(0, 2, 1)
    graph.connect(2, 3, 2)
    graph.connect(3, 1, 3)
    expect([...shortestDelaysMs(graph, 0)]).toEqual([0, 6, 1, 3, Infinity])
    expect([...shortestDelaysMs(graph, 1)]).toEqual([1, 0, 2, 3, Infinity])
  })

  it('finds what trying all ways finds', () => {
    const nodes = 40
    const graph = new WeightedGraph(nodes)
    const direct = Array.from({ length: nodes }, () => new Array<number>(nodes).fill(Infinity))
    for (let i = 0; i < 120; i++) {
      const [a, b, delayMs] = [(i * 7) % nodes, (i * 13 + 5) % nodes, ((i * 31) % 17) + 1]
      graph.connect(a, b, delayMs)
      for (const [from, to] of [
        [a, b],
        [b, a],
      ] as const) {
        const row = direct[from] ?? []
        row[to] = Math.min(row[to] ?? Infinity, delayMs)
      }
    }
    direct.forEach((row, node) => (row[node] = 0))
    for (let via = 0; via < nodes; via++)
      for (const row of direct)
        direct[via]?.forEach(
          (delayMs, to) => (row[to] = Math.min(row[to] ?? Infinity, (row[via] ?? 0) + delayMs)),
        )
    for (let source = 0; source < nodes; source++)
      expect([...shortestDelaysMs(graph, source)]).toEqual(direct[source])
  })
})

describe('meanDelayOfAllMs', () => {
  const nodes = 101
  /** A star of near leaves and remote ones. */
  const star = new WeightedGraph(nodes)
  for (let leaf = 1; leaf < nodes; leaf++) star.connect(0, leaf, leaf % 10 === 0 ? 200 : 10)
  const all = Array.from({ length: nodes }, (_, node) => node)

  it('is the mean of all when all are followed', () => {
    expect(meanDelayOfAllMs(star, all)).toBeCloseTo(meanDelayMs(star, all))
  })

  it('does not depend on how remote those are that are followed', () => {
    const remote = all.filter((node) => node % 10 === 0 || node % 10 === 1)
    const near = all.filter((node) => node % 10 > 1)
    for (const sources of [remote, near])
      expect(Math.abs(meanDelayOfAllMs(star, sources) / meanDelayMs(star, all) - 1)).toBeLessThan(0.05)
    expect(meanDelayMs(star, remote) / meanDelayMs(star, all)).toBeGreaterThan(1.5)
  })

  it('is infinite when a node cannot be reached', () => {
    const graph = new WeightedGraph(3)
    graph.connect(0, 1, 10)
    expect(meanDelayOfAllMs(graph, [0, 1, 2])).toBe(Infinity)
  })
})
