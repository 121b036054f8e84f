import {
  carrierKind,
  createIdentity,
  limits,
  loadCrypto,
  signDelegation,
  type Contact,
  type Credential,
  type Delegation,
  type IceServers,
  type Identity,
  type NodeAdmission,
  type NodeId,
} from '@runnel/protocol'
import { describe, expect, it, vi } from 'vitest'
import { partA, partB, statusOf, webrtcContact } from '../core/tracker-core.testkit.ts'
import { defaultTrackerLimits } from '../limits.ts'
import { MemoryWorld } from './memory-world.testkit.ts'

const crypto = await loadCrypto()
const carrier: Contact = {
  ...webrtcContact,
  addresses: [{ kind: carrierKind, text: 'wss://carrier.example' }],
}

/** To all that a user may, for as long as any test lasts. */
function delegationOf(user: Identity, delegateId: NodeId, fromMs: number): Delegation {
  const untilMs = fromMs + 60 * 86_400_000
  const claim = {
    chainId: 0,
    userId: user.nodeId,
    delegateId,
    fromMs,
    untilMs,
    publishes: true,
    reads: true,
  }
  return signDelegation({ ...claim, streams: [], requester: 'test', block: 0 }, crypto, user)
}

describe('a fault', () => {
  /** Two nodes in two stream parts. */
  async function twoNodes() {
    const world = await new MemoryWorld().start()
    world.expectsFaults = true
    const nodes = [await world.node('a'), await world.node('b')] as const
    for (const node of nodes) for (const id of [partA, partB]) node.send(statusOf(id))
    world.clock.advanceBy(1_000)
    const members = () => [partA, partB].map((id) => world.core.streamParts.get(id)?.size ?? 0)
    expect(members()).toEqual([2, 2])
    return { world, nodes, members }
  }

  it('in one stream part lets no node go, and is over soon', async () => {
    const { world, nodes, members } = await twoNodes()
    let isBroken = true
    world.core.onTouched = (id) => {
      if (isBroken && id === partA) throw new Error('in one stream part')
    }
    const next = await world.node('c')
    for (const id of [partA, partB]) next.send(statusOf(id))
    world.clock.advanceBy(500)
    expect(members()).toEqual([0, 3])
    isBroken = false
    world.clock.advanceBy(20_000)
    // The last one is taken for what the fault comes of until it reports again.
    next.send(statusOf(partA))
    world.clock.advanceBy(1_000)
    expect(members()).toEqual([3, 3])
    expect([...nodes, next].flatMap(({ closed }) => closed)).toEqual([])
    expect(world.core.counters.get('streamPartFaults')).toBe(1)
  })

  it('in encoding an instruction is one of its stream part', async () => {
    const { world, members } = await twoNodes()
    for (const node of world.core.nodes.values()) {
      const contact = { ...webrtcContact, dials: ['much-too-long'.repeat(1_000)] }
      Object.assign(node, { contact })
    }
    // Everybody is told its neighbours, with contacts that do not fit.
    const next = await world.node('c')
    next.send(statusOf(partA))
    world.clock.advanceBy(100)
    expect(world.core.counters.get('streamPartFaults')).toBe(3)
    expect(members()).toEqual([0, 2])
    for (const node of world.core.nodes.values()) Object.assign(node, { contact: webrtcContact })
    world.clock.advanceBy(20_000)
    expect(members()).toEqual([3, 2])
  })

  it('with one node closes its connection', async () => {
    const { world, nodes, members } = await twoNodes()
    const [a, b] = nodes
    world.runtime.router = {
      takes: (from) => {
        if (from === a.nodeId) throw new Error('with one node')
        return false
      },
      gone: () => {},
    }
    for (const node of nodes) node.send(statusOf(partA, 1))
    world.clock.advanceBy(1_000)
    expect(a.closed).toMatchObject([{ code: 'TRACKER_FAULT' }])
    expect(b.closed).toEqual([])
    expect(world.core.counters.get('connectionFaults')).toBe(1)
    world.clock.advanceBy(10_000)
    expect(members()).toEqual([1, 1])
  })
})

describe('the runtime', () => {
  it('takes a full status for a status, with what it says of links', async () => {
    const world = await new MemoryWorld().start()
    const [a, b] = [await world.node('a'), await world.node('b')]
    for (const node of [a, b]) node.send(statusOf(partA))
    const neighbours = [{ nodeId: b.nodeId, rttMs: 3, transport: 3 }]
    a.send({ ...statusOf(partA, 1), type: 'fullStatus', neighbours })
    a.send({ type: 'about', role: 'node', version: '1.2.3', name: 'attic' })
    world.clock.advanceBy(1_000)
    const reported = world.core.streamParts.get(partA)?.reportedTransport(a.nodeId, b.nodeId)
    expect(reported).toEqual({ kind: 'webrtc', relayed: true })
    expect(world.core.nodes.get(a.nodeId)?.about).toMatchObject({ version: '1.2.3', name: 'attic' })
    expect(a.closed).toEqual([])
  })

  it('renews TURN credentials before they expire, and not for nodes that are gone', async () => {
    const world = await new MemoryWorld().start()
    const node = await world.node('a')
    node.send(statusOf(partA))
    world.clock.advanceBy(1_000_000)
    const toldOf = () =>
      node.received.filter(
        (each): each is { atMs: number; packet: IceServers } => each.packet.type === 'iceServers',
      )
    const told = toldOf()
    expect(told.map(({ atMs }) => Math.floor(atMs / 450_000))).toEqual([0, 1, 2])
    expect(new Set(told.map(({ packet }) => packet.servers[0]?.username)).size).toBe(3)
    world.network.breakLinks(node.nodeId)
    world.clock.advanceBy(1_000_000)
    expect(toldOf().length).toBe(3)
    expect(world.core.nodes.size).toBe(0)
  })

  it('tells a node only once for many introductions', async () => {
    const world = await new MemoryWorld().start()
    const node = await world.node('a')
    for (let i = 0; i < 10; i++) node.send({ type: 'nodeInfo', contact: webrtcContact })
    world.clock.advanceBy(1_000)
    expect(node.received.filter(({ packet }) => packet.type === 'iceServers').length).toBe(1)
  })

  it('names no carrier that was disconnected for saying that it is one', async () => {
    const world = await new MemoryWorld().start()
    const flooder = await world.node('flooder')
    const { statusBurst } = defaultTrackerLimits
    for (const id of [partA, partB]) flooder.send(statusOf(id))
    // Its neighbours in two stream parts are to be told each time, and nothing is left for the last.
    for (let sent = 0; sent < statusBurst / 2; sent++)
      flooder.send({ type: 'nodeInfo', contact: { addresses: [], dials: [`way-${sent}`] } })
    flooder.send({ type: 'nodeInfo', contact: carrier })
    world.clock.advanceBy(1_000)
    expect(flooder.closed).toMatchObject([{ code: 'TOO_MANY_PACKETS' }])
    const next = await world.node('next')
    const urls = next.received.flatMap(({ packet }) =>
      packet.type === 'iceServers' ? packet.servers.map(({ url }) => url) : [],
    )
    expect(urls).toEqual(['turn:t.example.org'])
  })

  it('lets go of a node that died without a word', async () => {
    const world = await new MemoryWorld().start()
    const [a, b] = [await world.node('a'), await world.node('b')]
    for (const node of [a, b]) node.send(statusOf(partA))
    world.clock.advanceBy(1_000)
    expect(world.core.streamParts.get(partA)?.topology.edgeCount).toBe(1)
    world.network.setOnline(b.nodeId, false)
    world.clock.advanceBy(60_000)
    expect(world.core.streamParts.get(partA)?.size).toBe(1)
    expect(a.received.at(-1)?.packet).toMatchObject({ type: 'instruction', neighbours: [] })
  })

  it('closes the connection of a node that does not read', async () => {
    const world = await new MemoryWorld().start()
    const [a, b] = [await world.node('a'), await world.node('b')]
    for (const node of [a, b]) node.send(statusOf(partA))
    world.clock.advanceBy(1_000)
    world.network.setReading(b.nodeId, false)
    const signal = { type: 'signal', peerId: b.nodeId, sessionId: 1, kind: 'offer' } as const
    for (let i = 0; i < 400; i++) {
      a.send({ ...signal, payload: 'x'.repeat(16_000) })
      world.clock.advanceBy(5)
    }
    expect(world.core.counters.get('slowNodes')).toBe(1)
    expect(world.core.counters.get('signalsRelayed')).toBeLessThan(400)
    world.clock.advanceBy(30_000)
    expect(world.core.nodes.has(b.nodeId)).toBe(false)
    expect(a.closed).toEqual([])
  })

  it('drops a node that is listed no longer, tells its neighbours, and does not let it in again', async () => {
    const world = await new MemoryWorld().start()
    const [a, b] = [await world.node('a'), await world.node('b')]
    for (const node of [a, b]) node.send(statusOf(partA))
    world.clock.advanceBy(1_000)
    world.admission.remove(b.nodeId)
    expect(world.core.streamParts.get(partA)?.size).toBe(1)
    world.clock.advanceBy(100)
    expect(b.closed).toMatchObject([{ code: 'NODE_NOT_LISTED', remote: true }])
    expect(a.received.at(-1)?.packet).toMatchObject({ type: 'instruction', neighbours: [] })
    const again = await world.node('b')
    expect(again.closed).toMatchObject([{ code: 'NODE_NOT_LISTED' }])
    expect([...world.core.nodes.keys()]).toEqual([a.nodeId])
    expect(world.core.counters.get('nodesNotListed')).toBe(1)
    expect(a.closed).toEqual([])
  })

  it('lets users into a private network with all their nodes, up to a number, and out at once', async () => {
    const world = await new MemoryWorld().start()
    const user = createIdentity(new Uint8Array(32).fill(5), crypto)
    const acts = (delegateId: NodeId): Credential => ({
      delegation: delegationOf(user, delegateId, world.clock.now()),
    })
    world.admission.listOnly(user.nodeId)
    const nodes = []
    for (let i = 0; i < limits.maxNodesOfUser; i++) nodes.push(await world.node(`of user ${i}`, acts))
    expect(nodes.flatMap(({ closed }) => closed)).toEqual([])
    const [tooMany, alone] = [await world.node('one more', acts), await world.node('alone')]
    expect([tooMany, alone].map(({ closed }) => closed[0]?.code)).toEqual([
      'TOO_MANY_NODES_OF_USER',
      'NODE_NOT_LISTED',
    ])
    world.admission.remove(user.nodeId)
    world.clock.advanceBy(100)
    expect(new Set(nodes.map(({ closed }) => closed[0]?.code))).toEqual(new Set(['NODE_NOT_LISTED']))
    expect(world.core.nodes.size).toBe(0)
  })

  it('takes the renewed credential of a node, and drops one whose delegation was taken back or is of another user', async () => {
    const world = await new MemoryWorld().start()
    const [user, other] = [5, 6].map((fill) => createIdentity(new Uint8Array(32).fill(fill), crypto)) as [
      Identity,
      Identity,
    ]
    const of = (by: Identity, delegateId: NodeId) => delegationOf(by, delegateId, world.clock.now())
    const revokedFromMs = new Set<number>()
    const admission: NodeAdmission = world.admission
    const allows = vi.spyOn(admission, 'allows')
    allows.mockImplementation((_, delegation) => !revokedFromMs.has(delegation?.fromMs ?? 0))
    const acts = (delegateId: NodeId): Credential => ({ delegation: of(user, delegateId) })
    const [kept, back, stranger] = [
      await world.node('kept', acts),
      await world.node('taken back', acts),
      await world.node('stranger', acts),
    ]
    const show = (node: typeof kept, delegation: Delegation) => {
      node.send({ type: 'credential', delegation, token: undefined })
      world.clock.advanceBy(100)
    }
    const renewed = of(user, kept.nodeId)
    show(kept, renewed)
    expect(world.core.nodes.get(kept.nodeId)?.actingFor?.delegation).toEqual(renewed)
    revokedFromMs.add(world.clock.now())
    show(back, of(user, back.nodeId))
    show(stranger, of(other, stranger.nodeId))
    const codes = [kept, back, stranger].map(({ closed }) => closed.map(({ code }) => code))
    expect(codes).toEqual([[], ['DELEGATION_REVOKED'], ['PROTOCOL_VIOLATION']])
  })

  it('forgets at once a node that was removed while it was away', async () => {
    const world = await new MemoryWorld().start()
    const node = await world.node('a')
    node.send(statusOf(partA))
    world.clock.advanceBy(100)
    world.network.breakLinks(node.nodeId)
    world.clock.advanceBy(100)
    expect(world.core.streamParts.size).toBe(1)
    world.admission.remove(node.nodeId)
    expect(world.core.streamParts.size).toBe(0)
    await world.runtime.stop()
    expect(world.admission.isWatched).toBe(false)
  })

  it('lets its nodes go and tells nobody anything when it stood still, and takes them as they come again', async () => {
    const world = await new MemoryWorld().start()
    world.stalls.start()
    const [a, b] = [await world.node('a'), await world.node('b')]
    for (const node of [a, b]) node.send(statusOf(partA))
    world.clock.advanceBy(1_000)
    const told = [a, b].map(({ received }) => received.length)
    // The other node's going falls due while the tracker stands still.
    world.network.breakLinks(b.nodeId)
    world.clock.advanceBy(100)
    world.trackerClock.freeze()
    world.clock.advanceBy(4_000)
    world.trackerClock.thaw()
    world.clock.advanceBy(20_000)
    expect([a, b].map(({ received }) => received.length)).toEqual(told)
    expect(a.closed).toMatchObject([{ code: 'TRACKER_STALLED', remote: true }])
    expect([world.core.nodes.size, world.core.streamParts.size]).toEqual([0, 0])
    const again = await world.node('a')
    again.send(statusOf(partA, 9, [b.nodeId]))
    world.clock.advanceBy(1_000)
    expect(world.core.streamParts.get(partA)?.isAdopting).toBe(true)
    expect(world.core.counters.get('stalls')).toBe(1)
    world.stalls.stop()
  })

  it('asks for no more time after it was stopped', async () => {
    const world = await new MemoryWorld().start()
    const node = await world.node('a')
    node.send(statusOf(partA))
    world.clock.advanceBy(100)
    const stopped = world.runtime.stop()
    world.clock.advanceBy(20_000)
    await stopped
    expect(node.closed.map(({ code }) => code)).toEqual(['SHUTTING_DOWN'])
    expect(world.clock.nextAtMs).toBeUndefined()
  })
})
