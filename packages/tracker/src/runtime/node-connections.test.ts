import type { StreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { RelayedConnection } from '../cluster/relay-server.ts'
import { nodeId, partA, partB, statusOf, storing } from '../core/tracker-core.testkit.ts'
import { NodeConnections } from './node-connections.ts'

const node = nodeId(1)
const ends = { send: () => true, closed: () => {}, ended: () => {} }
const connection = () => new RelayedConnection(node, { relay: nodeId(500), hops: 1 }, ends)
const leave = (streamPartId: StreamPartId) => ({ type: 'leave', streamPartId }) as const

/** A node that is connected directly and has reported A, and that another tracker relays. */
function setUp() {
  const connections = new NodeConnections()
  const [direct, relay] = [connection(), connection()]
  connections.add(direct, true, [])
  connections.reported(direct, partA)
  connections.add(relay, false, [])
  return { connections, direct, relay }
}

describe('the connections of a node', () => {
  it('are one for everything, as long as there is one', () => {
    const connections = new NodeConnections()
    const only = connection()
    connections.add(only, true, [])
    expect(connections.reported(only, partA)).toBeUndefined()
    expect([connections.get(node), connections.towards(node, partA)]).toEqual([only, only])
    expect(connections.counts(only, leave(partA), true)).toBe(true)
    expect(connections.delete(only, [partA])).toEqual({ isLast: true, lost: [] })
    expect([connections.get(node), connections.has(only), [...connections]]).toEqual([undefined, false, []])
  })

  it('carry each stream part where it was reported last, and count what is said of it there', () => {
    const { connections, direct, relay } = setUp()
    connections.reported(relay, partB)
    expect(connections.get(node)).toBe(direct)
    expect([partA, partB].map((id) => connections.towards(node, id))).toEqual([direct, relay])
    for (const [way, other, id] of [[direct, relay, partA] as const, [relay, direct, partB] as const]) {
      for (const packet of [leave(id), storing(id)]) {
        expect(connections.counts(way, packet, true)).toBe(true)
        expect(connections.counts(other, packet, true)).toBe(false)
      }
      expect(connections.counts(other, statusOf(id), true)).toBe(true)
    }
  })

  it('become one again as the node comes home', () => {
    const { connections, direct, relay } = setUp()
    const partC = partB.replace('/b', '/c') as StreamPartId
    connections.reported(relay, partB)
    connections.reported(relay, partC)
    expect(connections.reported(direct, partB)).toBeUndefined()
    expect(connections.reported(direct, partC)).toBe(relay)
    expect(connections.towards(node, partB)).toBe(direct)
  })

  it('keep what another tracker relays when the node connects directly', () => {
    const connections = new NodeConnections()
    const [relay, direct] = [connection(), connection()]
    connections.add(relay, false, [])
    connections.add(direct, true, [partA, partB])
    expect([connections.get(node), connections.towards(node, partA)]).toEqual([direct, relay])
    expect(connections.reported(direct, partA)).toBeUndefined()
    expect(connections.delete(direct, [partA, partB])).toEqual({ isLast: false, lost: [partA] })
    expect([connections.get(node), connections.towards(node, partB)]).toEqual([relay, relay])
    expect(connections.all(node)).toEqual([relay])
  })

  it('lose with each what was reported by it', () => {
    const { connections, direct, relay } = setUp()
    const other = connection()
    connections.add(other, false, [partA])
    connections.reported(relay, partB)
    expect(connections.reported(other, partB)).toBe(relay)
    expect(connections.delete(relay, [partA, partB])).toEqual({ isLast: false, lost: [] })
    expect(connections.delete(other, [partA, partB])).toEqual({ isLast: false, lost: [partB] })
    expect(connections.towards(node, partB)).toBe(direct)
  })
})
