import { describe, expect, it } from 'vitest'
import { OverlayTopology } from './overlay-topology.ts'
import { seededRandom } from './random.testkit.ts'
import { faultsOf } from './topology.testkit.ts'

/** Pairs that are avoided, to be filled as a test goes along. */
class AvoidedPairs {
  readonly #pairs = new Set<string>()
  readonly avoid = (a: string, b: string): boolean => this.#pairs.has([a, b].sort().join(' '))

  add(a: string, b: string): void {
    this.#pairs.add([a, b].sort().join(' '))
  }
}

const kind = (id: string) => id[0]
const avoidedEdges = (topology: OverlayTopology<string>, avoid: (a: string, b: string) => boolean) =>
  [...topology.edges()].filter(([a, b]) => avoid(a, b))

describe('avoided pairs', () => {
  it('does not choose a failed pair again while it is avoided', () => {
    for (const degree of [2, 3, 4, 5]) {
      const failed = new AvoidedPairs()
      const modules = { random: seededRandom(degree), avoid: failed.avoid }
      const topology = new OverlayTopology<string>({ degree }, modules)
      for (let i = 0; i < 60; i++) topology.add(`n${i}`)
      for (let i = 0; i < 300; i++) {
        const [a, b] = [...topology.edges()][i % topology.edgeCount] ?? ['', '']
        failed.add(a, b)
        topology.failEdge(a, b)
        if (i % 3 === 0) topology.remove(`n${i / 3}`)
        if (i % 3 === 1) topology.add(`n${60 + (i - 1) / 3}`)
        expect(avoidedEdges(topology, failed.avoid)).toEqual([])
        expect(faultsOf(topology, degree)).toEqual([])
      }
    }
  })

  it('does not choose the pair that has just failed, whether nobody avoids it or every other is avoided too', () => {
    for (const avoided of [false, true]) {
      for (const degree of [2, 3, 4, 5, 6]) {
        for (let size = degree + 2; size < 2 * degree + 4; size++) {
          for (let seed = 0; seed < 20; seed++) {
            const modules = { random: seededRandom(seed), avoid: () => avoided }
            const topology = new OverlayTopology<string>({ degree }, modules)
            for (let i = 0; i < size; i++) topology.add(`n${i}`)
            const [a, b] = [...topology.edges()][seed % topology.edgeCount] ?? ['', '']
            topology.failEdge(a, b)
            expect(topology.hasEdge(a, b)).toBe(false)
            expect(faultsOf(topology, degree)).toEqual([])
          }
        }
      }
    }
  })

  it('connects nodes of a kind that cannot talk to each other through those that can', () => {
    // Browsers that have only WebSocket: each needs a server at the other end.
    const avoid = (a: string, b: string) => kind(a) === 'w' && kind(b) === 'w'
    for (let seed = 0; seed < 20; seed++) {
      const topology = new OverlayTopology<string>({ degree: 4 }, { random: seededRandom(seed), avoid })
      for (let i = 0; i < 100; i++) topology.add(i % 5 < 2 ? `w${i}` : `s${i}`)
      for (let i = 0; i < 50; i++) topology.remove([...topology.nodes()][(i * 7) % topology.size] ?? '')
      expect(faultsOf(topology, 4)).toEqual([])
      // The first few join while there are too few servers for them; such edges are theirs to fail, and then go.
      for (const [a, b] of avoidedEdges(topology, avoid)) topology.failEdge(a, b)
      expect(avoidedEdges(topology, avoid)).toEqual([])
      expect(faultsOf(topology, 4)).toEqual([])
    }
  })

  it('finds a node the few it can talk to even where no two of them are neighbours', () => {
    const friends = ['n0', 'n1', 'n2', 'n3', 'n4']
    const avoid = (a: string, b: string) =>
      (a === 'x' && !friends.includes(b)) || (b === 'x' && !friends.includes(a))
    for (let seed = 0; seed < 50; seed++) {
      const topology = new OverlayTopology<string>({ degree: 4 }, { random: seededRandom(seed), avoid })
      for (let i = 0; i < 20; i++) topology.add(`n${i}`)
      topology.add('x')
      expect(avoidedEdges(topology, avoid)).toEqual([])
      expect(faultsOf(topology, 4)).toEqual([])
    }
  })

  it('uses no more avoided pairs than it takes to connect two kinds that have nothing in common', () => {
    const avoid = (a: string, b: string) => kind(a) !== kind(b)
    for (let seed = 0; seed < 20; seed++) {
      const topology = new OverlayTopology<string>({ degree: 4 }, { random: seededRandom(seed), avoid })
      for (let i = 0; i < 20; i++) topology.add(`a${i}`)
      for (let i = 0; i < 20; i++) topology.add(`b${i}`)
      for (const [a, b] of avoidedEdges(topology, avoid)) topology.failEdge(a, b)
      expect(avoidedEdges(topology, avoid).length).toBe(2)
      expect(faultsOf(topology, 4)).toEqual([])
    }
  })

  it('keeps a node that nobody can talk to at the exact degree all the same', () => {
    const avoid = (a: string, b: string) => kind(a) === 'x' || kind(b) === 'x'
    const topology = new OverlayTopology<string>({ degree: 4 }, { random: seededRandom(1), avoid })
    for (let i = 0; i < 1500; i++) topology.add(`n${i}`)
    topology.add('x')
    expect(topology.neighbours('x').size).toBe(4)
    expect(avoidedEdges(topology, avoid).length).toBe(4)
    expect(faultsOf(topology, 4)).toEqual([])
  })
})
