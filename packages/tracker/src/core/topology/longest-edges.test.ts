import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { longestEdges } from './longest-edges.ts'

const length = (a: string, b: string): number => Math.abs(Number(a) - Number(b))

describe('the longest edges', () => {
  it('are one of each node, the longest of both ends where that is possible', () => {
    const edges = [
      ['0', '9'],
      ['0', '8'],
      ['1', '9'],
      ['1', '8'],
      ['0', '1'],
    ] as const
    expect([...longestEdges(edges, 1, length)]).toEqual([edges[0], edges[3]])
  })

  it('are not those of an unknown length', () => {
    expect(longestEdges([['0', '9']], 1, () => undefined).size).toBe(0)
  })

  it('are as many of each node as there should be, or all it has', () => {
    const node = fc.integer({ min: 0, max: 30 }).map(String)
    const edges = fc.uniqueArray(fc.tuple(node, node), { selector: (edge) => edge.toSorted().join() })
    fc.assert(
      fc.property(edges, fc.integer({ min: 1, max: 3 }), (all, perNode) => {
        const longest = longestEdges(all, perNode, length)
        const ends = (edge: readonly string[], id: string) => edge.filter((end) => end === id).length
        for (const id of all.flat()) {
          const has = all.reduce((sum, edge) => sum + ends(edge, id), 0)
          const taken = [...longest].reduce((sum, edge) => sum + ends(edge, id), 0)
          expect(taken).toBeGreaterThanOrEqual(Math.min(has, perNode))
        }
      }),
    )
  })
})
