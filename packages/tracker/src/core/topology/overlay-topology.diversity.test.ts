import { describe, expect, it } from 'vitest'
import { OverlayTopology } from './overlay-topology.ts'
import { seededRandom } from './random.testkit.ts'
import { faultsOf } from './topology.testkit.ts'

/** `n7@12` is a node of network 12, and `n7` of none that is known. */
const networkOf = (id: string): string | undefined => id.split('@')[1]

function overlay(seed: number, degree = 4): OverlayTopology<string> {
  return new OverlayTopology<string>({ degree }, { random: seededRandom(seed), networkOf })
}

/** The most neighbours that a node has of one network but its own. */
function mostOfOne(topology: OverlayTopology<string>, id: string): number {
  const counts = new Map<string, number>()
  for (const neighbour of topology.neighbours(id)) {
    const network = networkOf(neighbour)
    if (network !== undefined && network !== networkOf(id))
      counts.set(network, (counts.get(network) ?? 0) + 1)
  }
  return Math.max(0, ...counts.values())
}

const honest = (count: number) => Array.from({ length: count }, (_, n) => `h${n}@${n}`)
const sybils = (count: number) => Array.from({ length: count }, (_, n) => `s${n}@sybil`)
const everywhere = { distanceMs: () => 10, mayChange: () => true }

describe('neighbours of one foreign network', () => {
  it('are at most half for every node that joins among others of many networks, whatever the ids of one', () => {
    for (let seed = 0; seed < 10; seed++) {
      const random = seededRandom(seed)
      const topology = overlay(seed)
      for (const id of honest(10)) topology.add(id)
      const rest = [...honest(40).slice(10), ...sybils(400)].sort(() => random.next() - 0.5)
      for (const id of rest) {
        topology.add(id)
        if (id.startsWith('h')) expect(mostOfOne(topology, id)).toBeLessThanOrEqual(2)
      }
      for (const id of honest(40)) expect(mostOfOne(topology, id)).toBeLessThanOrEqual(2)
      expect(faultsOf(topology, 4)).toEqual([])
    }
  })

  it('become so as nodes leave, and edges fail', () => {
    for (let seed = 0; seed < 10; seed++) {
      const topology = overlay(seed)
      for (const id of [...honest(40), ...sybils(200)]) topology.add(id)
      for (let n = 0; n < 100; n++) topology.remove(`s${2 * n}@sybil`)
      for (let n = 0; n < 10; n++) topology.remove(`h${n}@${n}`)
      for (let i = 0; i < 100; i++) {
        const [a, b] = [...topology.edges()][i % topology.edgeCount] ?? ['', '']
        topology.failEdge(a, b)
      }
      const crowded = honest(40).filter((id) => mostOfOne(topology, id) > 2)
      expect(crowded).toEqual([])
      expect(faultsOf(topology, 4)).toEqual([])
    }
  })

  it('become so with improvements where a node came when there was nobody else', () => {
    for (let seed = 0; seed < 10; seed++) {
      const topology = overlay(seed)
      for (const id of sybils(100)) topology.add(id)
      for (const id of honest(20)) topology.add(id)
      for (let round = 0; round < 20; round++) for (const id of honest(20)) topology.exchange(id, everywhere)
      for (const id of honest(20)) expect(mostOfOne(topology, id)).toBeLessThanOrEqual(2)
      expect(faultsOf(topology, 4)).toEqual([])
    }
  })

  it('are as many as need be where there are no others: the degree is exact all the same', () => {
    for (const degree of [2, 3, 4, 5]) {
      const topology = overlay(degree, degree)
      for (const id of sybils(30)) topology.add(id)
      topology.add('h@1')
      expect(mostOfOne(topology, 'h@1')).toBe(topology.neighbours('h@1').size)
      for (const id of ['a@2', 'b@2', 'c', 'd']) topology.add(id)
      expect(faultsOf(topology, degree)).toEqual([])
    }
  })

  it('do not matter where all nodes are of one network, or of none that is known', () => {
    const edges = (id: (n: number) => string) => {
      const topology = overlay(3)
      for (let n = 0; n < 60; n++) topology.add(id(n))
      return [...topology.edges()].map((edge) => edge.map((end) => end.split('@')[0]))
    }
    const plain = edges((n) => `n${n}`)
    expect(edges((n) => `n${n}@1`)).toEqual(plain)
  })
})
