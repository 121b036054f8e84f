import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomPosition } from './cheapest.ts'
import { OverlayTopology } from './overlay-topology.ts'
import { seededRandom } from './random.testkit.ts'
import { faultsOf, sameMembers } from './topology.testkit.ts'

const empty = (degree: number, seed = 7) =>
  new OverlayTopology<string>({ degree }, { random: seededRandom(seed) })

function grown(degree: number, size: number, seed = 1): OverlayTopology<string> {
  const topology = empty(degree, seed)
  for (let i = 0; i < size; i++) topology.add(`n${i}`)
  return topology
}

/** All edges among `size` nodes of a group of their own. */
const clique = (name: string, size: number): (readonly [string, string])[] =>
  Array.from({ length: size }, (_, a) =>
    Array.from({ length: a }, (_, b) => [`${name}${a}`, `${name}${b}`] as const),
  ).flat()

type Quintet = [string, string, string, string, string]

describe('adopting reported edges', () => {
  it('leaves a right overlay as it is, with each edge reported from both ends', () => {
    for (const degree of [2, 3, 4, 5, 8]) {
      for (const size of [2, 3, degree, degree + 1, degree + 2, 41, 200]) {
        const edges = [...grown(degree, size).edges()]
        const topology = empty(degree)
        expect(topology.adopt([...edges, ...edges.map(([a, b]) => [b, a] as const)])).toEqual(new Set())
        expect([...topology.edges()]).toEqual(edges)
        expect(faultsOf(topology, degree)).toEqual([])
      }
    }
  })

  it('goes on as usual afterwards', () => {
    const topology = empty(4)
    topology.adopt(grown(4, 50).edges())
    expect(topology.add('new').size).toBe(5)
    topology.remove('n3')
    expect(faultsOf(topology, 4)).toEqual([])
  })

  it('joins overlays that do not hang together, changing few nodes', () => {
    const edges = ['a', 'b', 'c', 'd', 'e'].flatMap((name) => clique(name, 5))
    const topology = empty(4)
    expect(topology.adopt(edges).size).toBeLessThanOrEqual(4 * 4)
    expect(faultsOf(topology, 4)).toEqual([])
  })

  it('joins rings, where an edge is all that each can spare', () => {
    const topology = empty(2)
    topology.adopt(Array.from({ length: 40 }, (_, i) => clique(`ring${i}-`, 3)).flat())
    expect(faultsOf(topology, 2)).toEqual([])
  })

  it('joins overlays that hang by bridges, cutting no bridge that both sides need', () => {
    // A middle node with three leaves of five nodes, each on a bridge of its own.
    const leaf = (name: string, middle: string) => {
      const [p, q, r, s, hub] = ['p', 'q', 'r', 's', 'hub'].map((part) => name + part) as Quintet
      return [[p, q], [p, r], [p, s], [q, r], [q, s], [r, hub], [s, hub], [hub, middle]] as const // prettier-ignore
    }
    const clover = (name: string) => ['a', 'b', 'c'].flatMap((part) => leaf(name + part, name))
    for (let seed = 0; seed < 400; seed++) {
      const topology = empty(3, seed)
      topology.adopt([...clover('x'), ...clover('y')])
      expect(faultsOf(topology, 3)).toEqual([])
    }
  })

  it('fills what is missing and tells only those whose neighbours are not the reported ones', () => {
    const edges = [...grown(4, 100).edges()]
    const topology = empty(4)
    const changed = topology.adopt(edges.slice(2))
    expect(faultsOf(topology, 4)).toEqual([])
    expect(changed.size).toBeGreaterThanOrEqual(4)
    expect(changed.size).toBeLessThanOrEqual(8)
  })

  it('leaves out loops and edges beyond the degree, and tells their ends', () => {
    const topology = empty(2)
    const ring = Array.from({ length: 8 }, (_, i) => [`n${i}`, `n${(i + 1) % 8}`] as const)
    expect(topology.adopt([...ring, ['n0', 'n4'], ['n4', 'n0'], ['n6', 'n6']])).toEqual(
      new Set(['n0', 'n4', 'n6']),
    )
    expect([...topology.edges()]).toEqual(ring)
  })

  it('keeps the nodes and edges that are already there', () => {
    const topology = grown(4, 20)
    const before = [...topology.edges()]
    expect(topology.adopt(before)).toEqual(new Set())
    topology.adopt(clique('other', 5))
    expect(topology.size).toBe(25)
    expect(faultsOf(topology, 4)).toEqual([])
    expect(before.filter(([a, b]) => !topology.hasEdge(a, b)).length).toBe(1)
  })

  it('makes an exact overlay of any edges at all, and tells exactly whom it concerns', () => {
    const case_ = fc.record({
      seed: fc.nat(),
      degree: fc.integer({ min: 2, max: 8 }),
      size: fc.integer({ min: 1, max: 60 }),
      density: fc.constantFrom(0.2, 0.5, 1, 2),
    })
    fc.assert(
      fc.property(case_, ({ seed, degree, size, density }) => {
        const random = seededRandom(seed)
        const node = () => `n${randomPosition(size, random)}`
        const edges = Array.from(
          { length: Math.ceil((density * size * degree) / 2) },
          () => [node(), node()] as const,
        )
        const topology = empty(degree, seed)
        const changed = topology.adopt(edges)
        expect(faultsOf(topology, degree)).toEqual([])
        for (const id of topology.nodes()) {
          const reported = new Set(
            edges.filter((edge) => edge.includes(id)).map(([a, b]) => (a === id ? b : a)),
          )
          expect(changed.has(id)).toBe(!sameMembers(reported, topology.neighbours(id)))
        }
      }),
      { seed: 20261121, numRuns: 3_000 },
    )
  })
})
