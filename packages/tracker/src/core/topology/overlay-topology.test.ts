import { describe, expect, it } from 'vitest'
import { OverlayTopology } from './overlay-topology.ts'
import { seededRandom } from './random.testkit.ts'
import { faultsOf } from './topology.testkit.ts'

function grown(degree: number, size: number, seed = 1): OverlayTopology<string> {
  const topology = new OverlayTopology<string>({ degree }, { random: seededRandom(seed) })
  for (let i = 0; i < size; i++) topology.add(`n${i}`)
  return topology
}

describe('OverlayTopology', () => {
  it('refuses a degree that cannot give a connected graph', () => {
    for (const degree of [1, 0, -4, 2.5, NaN, Infinity]) {
      expect(() => new OverlayTopology({ degree }, { random: seededRandom(1) })).toThrow(RangeError)
    }
  })

  it('knows nothing at first', () => {
    const topology = grown(4, 0)
    expect([topology.size, topology.edgeCount, [...topology.nodes()], [...topology.edges()]]).toEqual([
      0,
      0,
      [],
      [],
    ])
    expect([topology.has('n0'), topology.hasEdge('n0', 'n1'), topology.neighbours('n0').size]).toEqual([
      false,
      false,
      0,
    ])
  })

  it('tells a node that is alone that it is alone', () => {
    expect(grown(4, 0).add('n0')).toEqual(new Set(['n0']))
  })

  it('is the complete graph up to degree + 1 nodes', () => {
    const edgeCounts = [0, 0, 1, 3, 6, 10]
    for (const size of [1, 2, 3, 4, 5]) {
      const topology = grown(4, size)
      expect(topology.edgeCount).toBe(edgeCounts[size])
      expect(topology.remove('n0').size).toBe(size - 1)
      expect(topology.edgeCount).toBe(edgeCounts[size - 1])
    }
  })

  it('changes nothing for a node that is already there, an unknown node or an unknown edge', () => {
    const topology = grown(4, 20)
    const edges = [...topology.edges()]
    const stranger = [...topology.nodes()].find((id) => id !== 'n0' && !topology.hasEdge('n0', id)) ?? ''
    expect(topology.add('n3').size).toBe(0)
    expect(topology.remove('nobody').size).toBe(0)
    expect(topology.failEdge('n0', stranger).size).toBe(0)
    expect(topology.failEdge('n0', 'nobody').size).toBe(0)
    expect(topology.failEdge('n0', 'n0').size).toBe(0)
    expect([...topology.edges()]).toEqual(edges)
  })

  it('puts a joining node into degree / 2 edges and leaves all others alone', () => {
    for (const degree of [2, 4, 6, 8]) {
      const topology = grown(degree, degree + 1)
      for (let i = degree + 1; i < 200; i++) {
        const changed = topology.add(`n${i}`)
        expect(changed).toEqual(new Set([`n${i}`, ...topology.neighbours(`n${i}`)]))
        expect(changed.size).toBe(degree + 1)
      }
    }
  })

  it('changes at most the two ends of one edge more where the degree is odd', () => {
    for (const degree of [3, 5, 7]) {
      const topology = grown(degree, degree + 1)
      for (let i = degree + 1; i < 200; i++) {
        const changed = topology.add(`n${i}`)
        for (const neighbour of topology.neighbours(`n${i}`)) expect(changed.has(neighbour)).toBe(true)
        expect(changed.size).toBeLessThanOrEqual(degree + 3)
      }
    }
  })

  it('gives out copies that later operations do not change', () => {
    const topology = grown(4, 30)
    const neighbours = topology.neighbours('n7')
    const before = [...neighbours]
    topology.remove(before[0] ?? '')
    expect([...neighbours]).toEqual(before)
    expect([...topology.neighbours('n7')]).not.toEqual(before)
  })

  it('replaces a failed edge by others, at a cost that does not grow', () => {
    const topology = grown(4, 300)
    for (const [a, b] of [...topology.edges()].slice(0, 200)) {
      if (!topology.hasEdge(a, b)) continue
      expect(topology.failEdge(a, b).size).toBeLessThanOrEqual(4)
      expect(topology.hasEdge(a, b)).toBe(false)
    }
    expect(faultsOf(topology, 4)).toEqual([])
  })

  it('builds the same graph from the same seed, and another one from another', () => {
    const run = (seed: number) => {
      const topology = grown(5, 80, seed)
      for (let i = 0; i < 40; i += 3) topology.remove(`n${i}`)
      for (const [a, b] of [...topology.edges()].slice(0, 10)) topology.failEdge(a, b)
      return [...topology.edges()]
    }
    expect(run(1)).toEqual(run(1))
    expect(run(1)).not.toEqual(run(2))
  })
})
