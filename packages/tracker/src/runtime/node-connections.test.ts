import type { StreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { RelayedConnection } from '../cluster/relay-server.ts'
import { nodeId, partA, partB, statusOf, storing } from '../core/tracker-core.testkit.ts'
import { NodeConnections } from './node-connections.ts'

const node = nodeId(1)
const ends = { send: () => true, closed: () => {}, ended: () => {} }
const connection = () => new RelayedConnection(node, 1, ends)
const leave = (streamPartId: StreamPartId) => ({ type: 'leave', streamPartId }) as const

/** A node that is connected directly and has reported A, and that another tracker relays. */
function setUp() {
  const connections = new NodeConnections()
  const [direct, relay] = [connection(), connection()]
  connections.add(direct, true, [])
  connections.reported(direct, partA, true, 0)
  connections.add(relay, false, [])
  return { connections, direct, relay }
}

describe('the connections of a node', () => {
  it('are one for everything, as long as there is one', () => {
    const connections = new NodeConnections()
    const only = connection()
    connections.add(only, true, [])
    expect(connections.reported(only, partA, true, 0)).toBeUndefined()
    expect([connections.get(node), connections.towards(node, partA)]).toEqual([only, only])
    expect(connections.counts(only, leave(partA), true, 0)).toBe(true)
    expect(connections.delete(only, [partA])).toEqual({ isLast: true, lost: [] })
    expect([connections.get(node), connections.has(only), [...connections]]).toEqual([undefined, false, []])
  })

  it('carry each stream part where it was reported last, and count what is said of it there', () => {
    const { connections, direct, relay } = setUp()
    connections.reported(relay, partB, true, 0)
    expect(connections.get(node)).toBe(direct)
    expect([partA, partB].map((id) => connections.towards(node, id))).toEqual([direct, relay])
    for (const [way, other, id] of [[direct, relay, partA] as const, [relay, direct, partB] as const]) {
      for (const packet of [leave(id), storing(id)]) {
        expect(connections.counts(way, packet, true, 0)).toBe(true)
        expect(connections.counts(other, packet, true, 0)).toBe(false)
      }
      expect(connections.counts(other, statusOf(id), true, 0)).toBe(true)
    }
  })

  it('become one again as the node comes home, and reports that were on their way count no more', () => {
    const { connections, direct, relay } = setUp()
    const partC = partB.replace('/b', '/c') as StreamPartId
    connections.reported(relay, partB, true, 0)
    connections.reported(relay, partC, true, 0)
    expect(connections.reported(direct, partB, true, 100)).toBeUndefined()
    expect(connections.reported(direct, partC, true, 100)).toBe(relay)
    expect(connections.counts(relay, statusOf(partB), true, 2_099)).toBe(false)
    expect(connections.counts(relay, statusOf(partB), true, 2_100)).toBe(true)
    expect(connections.towards(node, partB)).toBe(direct)
  })

  it('do not take away from home what a node brought there first, and said elsewhere a moment before', () => {
    const connections = new NodeConnections()
    const [direct, relay] = [connection(), connection()]
    connections.add(direct, true, [])
    connections.reported(direct, partA, false, 100)
    connections.reported(direct, partB, true, 100)
    connections.add(relay, false, [partA, partB])
    expect(connections.counts(relay, statusOf(partA), true, 2_099)).toBe(false)
    expect(connections.counts(relay, statusOf(partB), true, 2_099)).toBe(true)
    expect(connections.counts(relay, statusOf(partA), true, 2_100)).toBe(true)
  })

  it('count what is relayed of a node that connects directly after it was', () => {
    const connections = new NodeConnections()
    const [relay, direct] = [connection(), connection()]
    connections.add(relay, false, [])
    connections.reported(relay, partA, false, 0)
    connections.add(direct, true, [partA])
    expect(connections.counts(relay, statusOf(partA), true, 10)).toBe(true)
  })

  it('keep what another tracker relays when the node connects directly', () => {
    const connections = new NodeConnections()
    const [relay, direct] = [connection(), connection()]
    connections.add(relay, false, [])
    connections.add(direct, true, [partA, partB])
    expect([connections.get(node), connections.towards(node, partA)]).toEqual([direct, relay])
    expect(connections.reported(direct, partA, true, 0)).toBeUndefined()
    expect(connections.delete(direct, [partA, partB])).toEqual({ isLast: false, lost: [partA] })
    expect([connections.get(node), connections.towards(node, partB)]).toEqual([relay, relay])
    expect(connections.all(node)).toEqual([relay])
  })

  it('lose with each what was reported by it', () => {
    const { connections, direct, relay } = setUp()
    const other = connection()
    connections.add(other, false, [partA])
    connections.reported(relay, partB, true, 0)
    expect(connections.reported(other, partB, true, 0)).toBe(relay)
    expect(connections.delete(relay, [partA, partB])).toEqual({ isLast: false, lost: [] })
    expect(connections.delete(other, [partA, partB])).toEqual({ isLast: false, lost: [partB] })
    expect(connections.towards(node, partB)).toBe(direct)
  })
})
