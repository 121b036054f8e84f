import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { ProximityWorld, squareTable } from '../proximity.testkit.ts'
import { FloodPrediction, type FloodPredictionOptions } from './flood-prediction.ts'
import { shortestPaths } from './shortest-paths.ts'

const defaults: FloodPredictionOptions = { processingMs: 0.3, maxSources: 64, maxDelays: 1e6 }

function predict(
  nodes: readonly string[],
  rtts: Readonly<Record<string, number | null>>,
  options: Partial<FloodPredictionOptions> = {},
) {
  const edges = Object.keys(rtts).map((key) => [key.charAt(0), key.charAt(1)] as const)
  const overlay = { nodes, edges, rttMs: (a: string, b: string) => rtts[a + b] }
  const prediction = new FloodPrediction(overlay, { ...defaults, ...options }, { random: seededRandom('p') })
  while (prediction.step());
  return prediction.delays
}

describe('shortestPaths', () => {
  it('finds what trying all paths finds', () => {
    const random = seededRandom('paths')
    for (let round = 0; round < 100; round++) {
      const size = 2 + Math.floor(random.next() * 12)
      const costs = Array.from({ length: size }, () => Array.from({ length: size }, () => Infinity))
      for (let a = 0; a < size; a++)
        for (let b = 0; b < a; b++) {
          const cost = random.next() < 0.3 ? Math.floor(random.next() * 20) : Infinity
          for (const [x, y] of [[a, b], [b, a]] as const) (costs[x] ?? [])[y] = cost // prettier-ignore
        }
      const ends = (row: number[]) => [...row.keys()].filter((b) => row[b] !== Infinity)
      const graph = {
        neighbours: costs.map(ends),
        costs: costs.map((row) => ends(row).map((b) => row[b] ?? NaN)),
      }
      const found = costs.map((_, source) => [...shortestPaths(graph, source)])
      // Floyd and Warshall: through every node in turn.
      const best = costs.map((row, a) => row.map((cost, b) => (a === b ? 0 : cost)))
      for (let via = 0; via < size; via++)
        for (const row of best)
          for (const b of row.keys())
            row[b] = Math.min(row[b] ?? 0, (row[via] ?? 0) + (best[via]?.[b] ?? Infinity))
      expect(found).toEqual(best)
    }
  })
})

describe('a prediction', () => {
  it('takes half a round-trip time for an edge and the processing of each receiver, by the fastest way', () => {
    const delays = predict(['a', 'b', 'c'], { ab: 10, bc: 20, ac: 100 })
    expect(delays).toMatchObject({ sources: 3, nodes: 3, edges: 3, measuredEdges: 3 })
    expect(delays?.meanMs).toBeCloseTo((5.3 + 10.3 + 15.6) / 3)
    expect(delays?.p99Ms).toBeCloseTo(15.6)
  })

  it('takes edges nobody has measured to be like the others, and says so', () => {
    const delays = predict(['a', 'b', 'c'], { ab: 10, bc: null }, { processingMs: 0 })
    expect(delays).toMatchObject({ edges: 2, measuredEdges: 1 })
    expect(delays?.meanMs).toBeCloseTo((5 + 5 + 10) / 3)
  })

  it('says nothing where nothing is known', () => {
    expect(predict(['a', 'b'], { ab: null })).toBe(undefined)
    expect(predict(['a'], {})).toBe(undefined)
    expect(predict([], {})).toBe(undefined)
  })

  it('does no more work than it may', () => {
    const nodes = [...'abcdefgh']
    const ring = Object.fromEntries(nodes.map((id, i) => [id + (nodes[(i + 1) % 8] ?? ''), 10]))
    expect(predict(nodes, ring)?.sources).toBe(8)
    expect(predict(nodes, ring, { maxSources: 3 })?.sources).toBe(3)
    expect(predict(nodes, ring, { maxDelays: 40 })?.sources).toBe(5)
    expect(predict(nodes, ring, { maxDelays: 1 })?.sources).toBe(1)
  })

  it('does not depend on how remote the sources are that were drawn', () => {
    const names = Array.from({ length: 128 }, (_, i) => `leaf ${i}`)
    const legMs = (i: number) => (i % 8 === 0 ? 200 : 10)
    const legs = new Map(names.map((name, i) => [name, legMs(i)]))
    const nodes = ['hub', ...names]
    const edges = names.map((name) => ['hub', name] as const)
    const overlay = { nodes, edges, rttMs: (_: string, leaf: string) => 2 * (legs.get(leaf) ?? NaN) }
    // Between two leaves it is the sum of their legs, so each leg is in 2 · 128 of 129 · 128 ways.
    const meanMs = (2 * names.reduce((sum, _, i) => sum + legMs(i), 0)) / 129
    for (const seed of 'abcdefgh') {
      const options = { processingMs: 0, maxSources: 32, maxDelays: 1e6 }
      const prediction = new FloodPrediction(overlay, options, { random: seededRandom(seed) })
      while (prediction.step());
      expect(Math.abs((prediction.delays?.meanMs ?? 0) / meanMs - 1)).toBeLessThan(0.02)
    }
  })

  for (const overlay of ['random', 'topology-aware'] as const) {
    it(`of a ${overlay} overlay is what its nodes see, within 1 %`, () => {
      const world = new ProximityWorld({ nodes: 128, table: squareTable(16), overlay })
      world.run(60_000)
      const { topology } = world
      const rttMs = (a: string, b: string) => world.reportedRttMs(a, b)
      const measured = { nodes: topology.nodes(), edges: topology.edges(), rttMs }
      const options = { processingMs: 0.3, maxSources: 128, maxDelays: 1e6 }
      const prediction = new FloodPrediction(measured, options, { random: seededRandom('p') })
      while (prediction.step());
      const actual = [...world.places.keys()].flatMap((id) =>
        [...world.delaysFrom(id)].filter(([to]) => to !== id).map(([, delayMs]) => delayMs),
      )
      const meanMs = actual.reduce((sum, delayMs) => sum + delayMs, 0) / actual.length
      const { delays } = prediction
      expect(delays?.measuredEdges).toBe(256)
      expect(Math.abs((delays?.meanMs ?? 0) / meanMs - 1)).toBeLessThan(0.01)
      actual.sort((a, b) => a - b)
      const p99Ms = actual[Math.ceil(0.99 * actual.length) - 1] ?? NaN
      expect(Math.abs((delays?.p99Ms ?? 0) / p99Ms - 1)).toBeLessThan(0.02)
    })
  }
})
