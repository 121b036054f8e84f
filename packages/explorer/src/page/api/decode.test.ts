import { describe, expect, it } from 'vitest'
import { cluster, nodeList, partList, propagation, topologyPage } from './answers.ts'
import { Malformed } from './decode.ts'

const id = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const edge = { a: id(1), b: id(2), rttMs: 3.5, near: true, transport: 'webrtc', relayed: true }
const topology = {
  streamPartId: `${id(9)}/a#0`,
  ...{ overlay: 'random', nodeCount: 2, edgeCount: 1, offset: 0 },
  ...{ nodes: [id(1), id(2)], edges: [edge] },
  places: { [id(1)]: { latitude: 1, longitude: 2, name: 'x' } },
}

describe('what a tracker answers', () => {
  it('is taken apart, without what nobody asked for', () => {
    const page = topologyPage(topology)
    expect(page.edges).toEqual([edge])
    expect(page.places.get(id(1))).toEqual({ latitude: 1, longitude: 2, name: 'x' })
    expect(page).not.toHaveProperty('offset')
  })

  it('may come from an older tracker, which does not know by what its nodes are linked', () => {
    const { places: _places, ...older } = topology
    const edges = [
      { a: id(1), b: id(2), rttMs: null },
      { a: id(1), b: id(2), rttMs: null, near: false, transport: 'webrtc' },
    ]
    const page = topologyPage({ ...older, edges })
    const told = { a: id(1), b: id(2), rttMs: null, near: false, transport: null, relayed: false }
    expect(page.edges).toEqual([told, told])
    expect(page.places.size).toBe(0)
  })

  it('is shown whatever one member says of its round-trip times', () => {
    // The longest that fits into a status: of 32 bits, tenths of a millisecond, and one for what is unknown.
    const longestMs = (2 ** 32 - 2) / 10
    const edges = [edge, { ...edge, rttMs: longestMs }]
    expect(topologyPage({ ...topology, edges }).edges).toEqual(edges)
    const delays = { meanMs: 3 * longestMs, p99Ms: 10 * longestMs, edges: 2, measuredEdges: 2 }
    expect(propagation({ processingMs: 1, delays }).delays).toEqual(delays)
  })

  it.each([
    ['no object', null],
    ['an id that is none', { ...topology, nodes: ['<script>'] }],
    ['too many nodes', { ...topology, nodes: Array.from({ length: 1_001 }, (_, n) => id(n)) }],
    ['a negative time', { ...topology, edges: [{ ...edge, rttMs: -1 }] }],
    ['a time that is none', { ...topology, edges: [{ ...edge, rttMs: 'soon' }] }],
    ['a relay that is none', { ...topology, edges: [{ ...edge, relayed: 'perhaps' }] }],
    ['a transport that is no text', { ...topology, edges: [{ ...edge, transport: 7 }] }],
    ['a transport with a long name', { ...topology, edges: [{ ...edge, transport: 'pigeon'.repeat(3) }] }],
    [
      'a place beyond the earth',
      { ...topology, places: { [id(1)]: { latitude: 91, longitude: 0, name: '' } } },
    ],
    ['a place of nobody', { ...topology, places: { Bob: { latitude: 1, longitude: 0, name: '' } } }],
  ])('is refused with %s', (_, answer) => {
    expect(() => topologyPage(answer)).toThrow(Malformed)
  })

  it('is refused with the place of the mistake', () => {
    const nodes = [{ nodeId: id(1), connected: 'yes', streamParts: [] }]
    expect(() => nodeList({ total: 1, nodes })).toThrow('nodes: [0]: connected: neither true nor false')
    expect(() => partList({ total: -1, streamParts: [] })).toThrow('total: not a count')
    expect(() => cluster({ nodeId: id(1), state: 'dreaming' })).toThrow('state: not one of')
  })
})
