import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { createLatencyModel } from '../latency/latency-model.ts'
import { publishersOf } from './publishers.ts'

const drawn = (nodes: number, latency = 'aws', seed = '1') => {
  const model = createLatencyModel({ latency, nodes, seed })
  const publishers = publishersOf(100, model, seededRandom(seed))
  const ofRegion = Map.groupBy(publishers, (node) => model.regionOf?.(node))
  return { publishers, shares: [...ofRegion.values()].map(({ length }) => length) }
}

describe('publishersOf', () => {
  // 1,000 nodes, and 100 of them: every tenth would be in 8 of the 16 regions only.
  it.each([64, 1_000, 1_024])('gives every region its share, of %d nodes', (nodes) => {
    const { shares } = drawn(nodes)
    expect(shares).toHaveLength(16)
    expect(new Set(shares)).toEqual(new Set([6, 7]))
  })

  it('draws nodes by chance: the same by the same seed, and nobody twice before all', () => {
    const { publishers } = drawn(1_000)
    expect(new Set(publishers).size).toBe(100)
    expect(drawn(1_000).publishers).toEqual(publishers)
    expect(drawn(1_000, 'aws', '2').publishers).not.toEqual(publishers)
    expect(new Set(drawn(64).publishers.slice(0, 64)).size).toBe(64)
  })

  it('draws from all where there are no regions', () => {
    const { publishers } = drawn(600, 'transit-stub')
    expect(new Set(publishers).size).toBe(100)
    expect(Math.max(...publishers) - Math.min(...publishers)).toBeGreaterThan(300)
  })
})
