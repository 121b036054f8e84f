import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BoundedGraph } from './bounded-graph.ts'
import { randomPosition } from './cheapest.ts'
import { componentOf, componentsOf, findSeparated } from './connectivity.ts'
import { OverlayTopology } from './overlay-topology.ts'
import { seededRandom } from './random.testkit.ts'

/** A random graph of low degree, so that it falls into several pieces. */
function patchyGraph(size: number, edges: number, seed: number): BoundedGraph<string> {
  const random = seededRandom(seed)
  const graph = new BoundedGraph<string>(size)
  for (let i = 0; i < size; i++) graph.addNode(`n${i}`)
  for (let i = 0; i < edges; i++) {
    const [a, b] = [`n${randomPosition(size, random)}`, `n${randomPosition(size, random)}`]
    if (graph.connectable(a, b)) graph.connect(a, b)
  }
  return graph
}

/** A label per node, equal for those that hang together, by merging labels edge by edge. */
function labelsOf(graph: BoundedGraph<string>): Map<string, string> {
  const labels = new Map([...graph.nodes()].map((id) => [id, id]))
  for (const { a, b } of graph.edges) {
    const [kept, gone] = [labels.get(a) ?? '', labels.get(b)]
    for (const [id, label] of labels) if (label === gone) labels.set(id, kept)
  }
  return labels
}

const graphs = fc
  .record({
    size: fc.integer({ min: 1, max: 40 }),
    perNode: fc.constantFrom(0.3, 0.8, 1.2, 2),
    seed: fc.nat(),
  })
  .map(({ size, perNode, seed }) => patchyGraph(size, Math.floor(size * perNode), seed))
const fixed = { seed: 20261121, numRuns: 300 }

describe('components', () => {
  it('part the nodes into those that hang together, each with a tree', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const labels = labelsOf(graph)
        const components = componentsOf(graph)
        expect(components.length).toBe(new Set(labels.values()).size)
        expect(components.reduce((sum, { members }) => sum + members.size, 0)).toBe(graph.size)
        for (const { members, tree } of components) {
          expect(new Set([...members].map((id) => labels.get(id))).size).toBe(1)
          expect(tree.size).toBe(members.size - 1)
          for (const id of members) expect(componentOf(graph, id).members).toEqual(members)
        }
      }),
      fixed,
    )
  })
})

describe('findSeparated', () => {
  it('finds a source that does not hang together with all others, if there is one', () => {
    fc.assert(
      fc.property(graphs, fc.array(fc.nat(), { maxLength: 8 }), (graph, picks) => {
        const labels = labelsOf(graph)
        const sources = picks.map((pick) => `n${pick % graph.size}`)
        const separated = findSeparated(graph, sources)
        const isApart = new Set(sources.map((id) => labels.get(id))).size > 1
        expect(separated !== undefined).toBe(isApart)
        if (separated !== undefined) expect(sources).toContain(separated)
      }),
      fixed,
    )
  })

  it('looks at few nodes of a large random regular graph', () => {
    const topology = new OverlayTopology<string>({ degree: 4 }, { random: seededRandom(1) })
    for (let i = 0; i < 10_000; i++) topology.add(`n${i}`)
    const graph = new CountingGraph(4)
    for (const id of topology.nodes()) graph.addNode(id)
    for (const [a, b] of topology.edges()) graph.connect(a, b)
    graph.lookedAt = 0
    for (let i = 0; i < 100; i++) expect(findSeparated(graph, [`n${i}`, `n${9999 - i}`])).toBeUndefined()
    // √10,000 is 100; the bound is three times that a search.
    expect(graph.lookedAt / 100).toBeLessThan(300)
  })
})

class CountingGraph extends BoundedGraph<string> {
  lookedAt = 0

  override linksOf(id: string) {
    this.lookedAt++
    return super.linksOf(id)
  }
}
