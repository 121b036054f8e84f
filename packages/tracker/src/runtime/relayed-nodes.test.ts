import { decodePacket, encodePacket, readPackets, type NodeId, type Packet } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { RelayedConnection } from '../cluster/relay-server.ts'
import { nodeId as testNodeId, partA, partB, statusOf, storing, webrtcContact } from '../core/tracker-core.testkit.ts'
import { defaultTrackerLimits } from '../limits.ts'
import { MemoryWorld } from './memory-world.testkit.ts'

const relayId = testNodeId(500)

/** A node that comes over another tracker. */
function relayed(world: MemoryWorld, nodeId: NodeId) {
  const received: Packet[] = []
  const closed: string[] = []
  const connection = new RelayedConnection(nodeId, { relay: relayId, hops: 1 }, {
    send: (packets) => {
      for (const { type, body } of readPackets(packets)) received.push(decodePacket(type, body.slice()))
      return true
    },
    closed: (code) => closed.push(code),
    ended: () => {},
  })
  world.runtime.acceptRelayed(connection)
  const send = (packet: Packet) => {
    connection.receive(encodePacket(packet))
    world.clock.advanceBy(1_000)
  }
  send({ type: 'nodeInfo', contact: webrtcContact })
  return { connection, received, closed, send }
}

const leave = { type: 'leave', streamPartId: partA } as const
/** A status of A, in which nobody is reported. */
const statusIn = (session: number, counter = 0) => statusOf(partA, counter, [], [], session)
const types = (received: readonly (Packet | { packet: Packet })[]) =>
  received.map((each) => ('packet' in each ? each.packet.type : each.type))

async function setUp() {
  const world = await new MemoryWorld().start()
  const other = await world.node('other')
  other.send(statusOf(partA))
  const node = await world.node('node')
  const neighbours = () => [...(world.core.streamParts.get(partA)?.topology.neighbours(other.nodeId) ?? [])]
  return { world, other, node, neighbours }
}

describe('a node that is connected, and relayed as well', () => {
  it('is told of each stream part where it reported it, and brings them home one by one', async () => {
    const { world, node, other, neighbours } = await setUp()
    const relay = relayed(world, node.nodeId)
    relay.send(statusOf(partA))
    expect(neighbours()).toEqual([node.nodeId])
    expect(types(relay.received)).toEqual(['instruction'])
    expect(types(node.received)).toEqual(['iceServers'])
    relay.send(statusOf(partB))
    node.send(statusOf(partA))
    world.clock.advanceBy(1_000)
    expect([types(node.received).at(-1), relay.closed]).toEqual(['instruction', []])
    // The tracker that relayed it says goodbye for it: it has gone home.
    relay.send(leave)
    expect(neighbours()).toEqual([node.nodeId])
    node.send(statusOf(partB))
    world.clock.advanceBy(1_000)
    expect(relay.closed).toEqual(['REPLACED'])
    node.send(leave)
    world.clock.advanceBy(1_000)
    expect([neighbours(), node.closed, other.closed]).toEqual([[], [], []])
  })

  it('may go to the other tracker again, and says goodbye here later', async () => {
    const { world, node, neighbours } = await setUp()
    node.send(statusOf(partA))
    world.clock.advanceBy(1_000)
    const relay = relayed(world, node.nodeId)
    relay.send(statusIn(2, 1))
    node.send(leave)
    world.clock.advanceBy(20_000)
    expect(neighbours()).toEqual([node.nodeId])
    relay.send(leave)
    expect(neighbours()).toEqual([])
  })

  it('stays where it is when what it said elsewhere before is relayed, however late', async () => {
    const { world, node, neighbours } = await setUp()
    node.send(statusIn(2))
    const relay = relayed(world, node.nodeId)
    world.clock.advanceBy(5_000)
    relay.send(statusIn(1))
    relay.connection.end({ code: 'RELAY_ENDED', text: '', remote: true })
    world.clock.advanceBy(20_000)
    expect([neighbours(), relay.received]).toEqual([[node.nodeId], []])
    expect(world.core.counters.get('staleStatuses')).toBe(1)
  })

  it('is believed at the tracker itself, whatever its clock says', async () => {
    const { world, node, neighbours } = await setUp()
    const relay = relayed(world, node.nodeId)
    relay.send(statusIn(2))
    node.send(statusIn(1))
    world.clock.advanceBy(1_000)
    relay.connection.end({ code: 'RELAY_ENDED', text: '', remote: true })
    world.clock.advanceBy(20_000)
    expect(neighbours()).toEqual([node.nodeId])
  })

  it('gets its place back from a tracker that claims a session of the future', async () => {
    const { world, node } = await setUp()
    const [liar, home] = [relayed(world, node.nodeId), relayed(world, node.nodeId)]
    const start = world.clock.now()
    liar.send(statusIn(Number.MAX_SAFE_INTEGER))
    home.send(statusIn(start + 50_000))
    expect(world.core.counters.get('staleStatuses')).toBe(1)
    world.clock.advanceBy(70_000)
    home.send(statusIn(start + 70_000, 1))
    expect(world.core.counters.get('staleStatuses')).toBe(1)
    expect(liar.closed).toEqual(['REPLACED'])
  })

  it('stores what it said it does, though its clock is an hour ahead', async () => {
    const { world, node } = await setUp()
    const session = world.clock.now() + 3_600_000
    for (const packet of [statusIn(session), storing(partA), statusIn(session, 1)]) {
      node.send(packet)
      world.clock.advanceBy(1_000)
    }
    expect([...world.core.storage.nodes(partA)]).toEqual([node.nodeId])
  })

  it('is believed when it comes over another tracker for the first time since it was lost', async () => {
    const { world, node, neighbours } = await setUp()
    node.send(statusIn(2))
    world.clock.advanceBy(1_000)
    world.network.breakLinks(node.nodeId)
    world.clock.advanceBy(1_000)
    const relay = relayed(world, node.nodeId)
    relay.send(statusIn(1, 1))
    world.clock.advanceBy(20_000)
    expect([neighbours(), world.core.counters.get('staleStatuses')]).toEqual([[node.nodeId], 0])
    relay.send(statusIn(0, 1))
    expect(world.core.counters.get('staleStatuses')).toBe(1)
  })

  it('is told its neighbours again by the connection that is left when another one is lost', async () => {
    const { world, node, neighbours } = await setUp()
    const relay = relayed(world, node.nodeId)
    relay.send(statusOf(partA))
    relay.connection.end({ code: 'RELAY_ENDED', text: '', remote: true })
    world.clock.advanceBy(1_000)
    const told = node.received.at(-1)
    if (told?.packet.type !== 'instruction') throw new Error('it was told nothing')
    expect(told.packet.neighbours).toHaveLength(1)
    node.send(statusOf(partA, told.packet.counter))
    world.clock.advanceBy(20_000)
    expect(neighbours()).toEqual([node.nodeId])
  })

  it('has a while to report again what came by the connection that is lost, and keeps the rest', async () => {
    const { world, node, neighbours } = await setUp()
    const relay = relayed(world, node.nodeId)
    relay.send(statusOf(partA))
    node.send(statusOf(partB))
    world.clock.advanceBy(1_000)
    relay.connection.end({ code: 'LINK_LOST', text: '', remote: true })
    world.clock.advanceBy(9_000)
    expect(neighbours()).toEqual([node.nodeId])
    world.clock.advanceBy(2_000)
    expect(neighbours()).toEqual([])
    expect([...(world.core.streamParts.get(partB)?.members.keys() ?? [])]).toEqual([node.nodeId])
  })

  it('stays when its direct connection is lost', async () => {
    const { world, node, neighbours } = await setUp()
    const relay = relayed(world, node.nodeId)
    relay.send(statusOf(partA))
    world.network.breakLinks(node.nodeId)
    world.clock.advanceBy(20_000)
    expect(neighbours()).toEqual([node.nodeId])
    relay.connection.end({ code: 'RELAY_ENDED', text: '', remote: true })
    world.clock.advanceBy(5_000)
    expect([neighbours(), world.core.nodes.has(node.nodeId)]).toEqual([[], false])
  })

  it('is let go everywhere when it may not be here', async () => {
    const { world, node } = await setUp()
    const relay = relayed(world, node.nodeId)
    relay.send(statusOf(partA))
    world.admission.remove(node.nodeId)
    world.clock.advanceBy(100)
    expect([relay.closed, node.closed.map(({ code }) => code)]).toEqual([
      ['NODE_NOT_LISTED'],
      ['NODE_NOT_LISTED'],
    ])
    expect(world.runtime.connectionOf(node.nodeId)).toBeUndefined()
  })
})

describe('a node whose stream parts another tracker leads', () => {
  it('pays for all it says before that is passed on, and is let go when it says too much', async () => {
    const { world, node } = await setUp()
    const taken: string[] = []
    world.runtime.router = {
      takes: (_from, { type }) => taken.push(type) > 0,
      isOutdated: () => false,
      gone: () => {},
      serves: () => true,
    }
    const { statusBurst, signalBurst } = defaultTrackerLimits
    const signal = { type: 'signal', peerId: testNodeId(7), sessionId: 1, kind: 'offer', payload: '' } as const
    for (let i = 0; i < 2 * signalBurst; i++) node.send(signal)
    world.clock.advanceBy(1)
    expect(taken.length).toBeLessThanOrEqual(signalBurst + 1)
    for (let i = 0; i < 2 * statusBurst; i++) node.send(statusOf(partB))
    world.clock.advanceBy(1_000)
    expect(taken.filter((type) => type === 'status').length).toBeLessThanOrEqual(statusBurst + 1)
    expect(node.closed.map(({ code }) => code)).toEqual(['TOO_MANY_PACKETS'])
  })
})
