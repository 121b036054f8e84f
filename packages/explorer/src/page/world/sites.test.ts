import { describe, expect, it } from 'vitest'
import type { Edge } from '../api/answers.ts'
import { sitesOf } from './sites.ts'

const edge = (a: string, b: string, rttMs: number | null): Edge => {
  return { a, b, rttMs, near: false, transport: null, relayed: false }
}
const oslo = { latitude: 59.9, longitude: 10.8, name: 'Oslo' }
const lima = { latitude: -12, longitude: -77, name: 'Lima' }

describe('sites', () => {
  it('gather nodes and edges by place', () => {
    const places = new Map([
      ['a', oslo],
      ['b', oslo],
      ['c', lima],
    ])
    const edges = [edge('a', 'b', 1), edge('a', 'c', 200), edge('b', 'c', 220), edge('c', 'd', 5)]
    const { sites, ways } = sitesOf(['a', 'b', 'c', 'd'], edges, places)
    expect(sites.map(({ place, nodes, inner }) => [place.name, nodes, inner.length])).toEqual([
      ['Oslo', ['a', 'b'], 1],
      ['Lima', ['c'], 0],
    ])
    expect(ways).toHaveLength(1)
    expect(ways[0]).toMatchObject({ meanRttMs: 210, edges: [edges[1], edges[2]] })
  })

  it('are none where no places are known', () => {
    expect(sitesOf(['a', 'b'], [edge('a', 'b', 1)], new Map())).toEqual({ sites: [], ways: [] })
  })
})
