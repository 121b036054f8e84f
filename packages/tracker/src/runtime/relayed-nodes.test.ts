import {
  createIdentity,
  decodePacket,
  encodePacket,
  generatePrivateKey,
  loadCrypto,
  readPackets,
  seededRandom,
  signRelayConsent,
  type Identity,
  type NodeId,
  type Packet,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { RelayedConnection } from '../cluster/relay-server.ts'
import {
  nodeId as testNodeId,
  partA,
  partB,
  statusOf,
  storing,
  webrtcContact,
} from '../core/tracker-core.testkit.ts'
import { defaultTrackerLimits } from '../limits.ts'
import { MemoryWorld } from './memory-world.testkit.ts'

const relayId = testNodeId(500)
const crypto = await loadCrypto()

interface RelayOptions {
  /** When the node signs that the other tracker speaks for it. */
  readonly sessionMs?: number
  /** Which tracker it signs for. */
  readonly trackerId?: NodeId
  /** Who signs; default: the node. */
  readonly signer?: Identity
  readonly hops?: number
}

/** A node that comes over another tracker. */
function relayed(
  world: MemoryWorld,
  { identity }: { readonly identity: Identity },
  options: RelayOptions = {},
) {
  const { sessionMs = 1, trackerId = relayId, signer = identity, hops = 1 } = options
  const received: Packet[] = []
  const closed: string[] = []
  const connection = new RelayedConnection(
    identity.nodeId,
    { relay: relayId, hops },
    {
      send: (packets) => {
        for (const { type, body } of readPackets(packets)) received.push(decodePacket(type, body.slice()))
        return true
      },
      closed: (code) => closed.push(code),
      ended: () => {},
    },
  )
  world.runtime.acceptRelayed(connection)
  const send = (packet: Packet) => {
    connection.receive(encodePacket(packet))
    world.clock.advanceBy(1_000)
  }
  const introduce = (sinceMs: number, contact = webrtcContact) => {
    const consent = signRelayConsent({ trackerId, sessionMs: sinceMs, contact }, crypto, signer)
    send({ type: 'nodeInfo', contact, consent })
  }
  introduce(sessionMs)
  return { connection, received, closed, send, introduce }
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
    const relay = relayed(world, node)
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
    const relay = relayed(world, node)
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
    const relay = relayed(world, node)
    world.clock.advanceBy(5_000)
    relay.send(statusIn(1))
    relay.connection.end({ code: 'RELAY_ENDED', text: '', remote: true })
    world.clock.advanceBy(20_000)
    expect([neighbours(), relay.received]).toEqual([[node.nodeId], []])
    expect(world.core.counters.get('staleStatuses')).toBe(1)
  })

  it('is believed at the tracker itself, whatever its clock says', async () => {
    const { world, node, neighbours } = await setUp()
    const relay = relayed(world, node)
    relay.send(statusIn(2))
    node.send(statusIn(1))
    world.clock.advanceBy(1_000)
    relay.connection.end({ code: 'RELAY_ENDED', text: '', remote: true })
    world.clock.advanceBy(20_000)
    expect(neighbours()).toEqual([node.nodeId])
  })

  it('gets its place back from a tracker that claims a session of the future', async () => {
    const { world, node } = await setUp()
    const [liar, home] = [relayed(world, node), relayed(world, node)]
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
    const relay = relayed(world, node)
    relay.send(statusIn(1, 1))
    world.clock.advanceBy(20_000)
    expect([neighbours(), world.core.counters.get('staleStatuses')]).toEqual([[node.nodeId], 0])
    relay.send(statusIn(0, 1))
    expect(world.core.counters.get('staleStatuses')).toBe(1)
  })

  it('is told its neighbours again by the connection that is left when another one is lost', async () => {
    const { world, node, neighbours } = await setUp()
    const relay = relayed(world, node)
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
    const relay = relayed(world, node)
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
    const relay = relayed(world, node)
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
    const relay = relayed(world, node)
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
    const signal = {
      type: 'signal',
      peerId: testNodeId(7),
      sessionId: 1,
      kind: 'offer',
      payload: '',
    } as const
    for (let i = 0; i < 2 * signalBurst; i++) node.send(signal)
    world.clock.advanceBy(1)
    expect(taken.length).toBeLessThanOrEqual(signalBurst + 1)
    for (let i = 0; i < 2 * statusBurst; i++) node.send(statusOf(partB))
    world.clock.advanceBy(1_000)
    expect(taken.filter((type) => type === 'status').length).toBeLessThanOrEqual(statusBurst + 1)
    expect(node.closed.map(({ code }) => code)).toEqual(['TOO_MANY_PACKETS'])
  })
})

describe('a tracker that speaks for nodes', () => {
  const stranger = createIdentity(generatePrivateKey(seededRandom('stranger')), crypto)
  const moved = {
    addresses: [
      { kind: 'websocket', text: 'ws://evil.example' },
      { kind: 'webrtc', text: '' },
    ],
    dials: ['websocket', 'webrtc'],
  }

  it('is believed nothing of a node that did not sign for it', async () => {
    const { world, node, neighbours } = await setUp()
    node.send(statusOf(partA))
    world.clock.advanceBy(1_000)
    for (const options of [
      { signer: stranger, sessionMs: 9 },
      { trackerId: testNodeId(501), sessionMs: 9 },
    ]) {
      const liar = relayed(world, node, options)
      expect(liar.closed).toEqual(['RELAY_NOT_SIGNED'])
      liar.send(leave)
    }
    expect([neighbours(), world.core.counters.get('relaysUnsigned')]).toEqual([[node.nodeId], 2])
    expect([world.core.nodes.get(node.nodeId)?.contact, node.closed]).toEqual([webrtcContact, []])
  })

  it('may say nothing before the node has signed', async () => {
    const { world, neighbours } = await setUp()
    const ends = { send: () => true, closed: () => {}, ended: () => {} }
    const connection = new RelayedConnection(stranger.nodeId, { relay: relayId, hops: 1 }, ends)
    world.runtime.acceptRelayed(connection)
    connection.receive(encodePacket(statusOf(partA)))
    expect([neighbours(), world.core.counters.get('relaysUnsigned')]).toEqual([[], 1])
  })

  it('cannot take over, nor take out, a node that is connected and has not signed for it since', async () => {
    const { world, node, neighbours } = await setUp()
    const consent = { trackerId: world.identity.nodeId, sessionMs: 5, signature: new Uint8Array(65) }
    node.send({ type: 'nodeInfo', contact: webrtcContact, consent })
    node.send(statusIn(1))
    world.clock.advanceBy(1_000)
    const liar = relayed(world, node, { sessionMs: 5 })
    const told = node.received.length
    liar.introduce(5, moved)
    liar.send(statusIn(Number.MAX_SAFE_INTEGER, 9))
    liar.send(leave)
    expect(neighbours()).toEqual([node.nodeId])
    expect(liar.received).toEqual([])
    expect(world.core.nodes.get(node.nodeId)?.contact).toEqual(webrtcContact)
    expect([world.core.counters.get('relaysOutranked'), node.received.length]).toEqual([2, told])
    // It signs for the other one as it turns to that.
    liar.introduce(6, moved)
    liar.send(statusIn(2))
    expect(world.core.nodes.get(node.nodeId)?.contact).toEqual(moved)
    expect(types(liar.received)).toContain('instruction')
  })

  it('is believed what a node signed that came over a third one', async () => {
    const { world, node, neighbours } = await setUp()
    const relay = relayed(world, node, { trackerId: testNodeId(501), hops: 2 })
    relay.send(statusOf(partA))
    expect(neighbours()).toEqual([node.nodeId])
  })
})
