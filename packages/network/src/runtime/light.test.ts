import {
  buildBatch,
  decodeBatch,
  PacketType,
  readPackets,
  signDelegation,
  type BuiltBatch,
  type Delegation,
  type DelegationClaim,
  type MessageRef,
  type NodeId,
} from '@runnel/protocol'
import type { Connection, Transport } from '@runnel/transport'
import { afterEach, expect, it } from 'vitest'
import type { NetworkNodeModules } from '../create-network-node.ts'
import { lightParts } from '../light.ts'
import { networkLimits } from '../limits.ts'
import type { HostNews, WithheldMessages } from '../ports.ts'
import {
  crypto,
  identityOf,
  neighboursOf,
  partId,
  streamId,
  Swarm,
  TestPublisher,
  turn,
  type Member,
} from '../network.testkit.ts'

let swarm: Swarm
const started: Member[] = []

afterEach(async () => {
  for (const member of started.splice(0)) await turn(swarm, member.node.stop())
})

/** A light node, with what it tells of its hosts. */
async function light(name: string, hosts: readonly string[], atOnce = 2) {
  const options = {
    light: {
      parts: lightParts,
      hosts: { hosts: hosts.map((host) => ({ url: `memory:${identityOf(host).nodeId}` })), atOnce },
    },
  }
  const member = swarm.make(name, options)
  const news: HostNews[] = []
  const withheld: WithheldMessages[] = []
  member.node.on('host', (told) => news.push(told))
  member.node.on('withheld', (told) => withheld.push(told))
  await member.node.start()
  started.push(member)
  return { ...member, news, withheld }
}

/** A host; `sends` may leave out packets, by the peer that they are for. */
async function host(
  name: string,
  sends: (packet: Uint8Array, peerId: NodeId) => boolean = () => true,
): Promise<Member> {
  const others: Partial<NetworkNodeModules> = {
    transports: (modules) => [filtered(swarm.network.transport({ role: 'node' }, modules), sends)],
  }
  const member = swarm.make(
    name,
    { light: { parts: lightParts, servesGuests: true } },
    undefined,
    undefined,
    others,
  )
  await member.node.start()
  member.node.join(partId)
  started.push(member)
  return member
}

/** A transport whose connections leave out some packets. */
function filtered(transport: Transport, sends: (packet: Uint8Array, peerId: NodeId) => boolean): Transport {
  const tapped = (connection: Connection): Connection => {
    const send = connection.send.bind(connection)
    connection.send = (packet) => !sends(packet, connection.peerId) || send(packet)
    return connection
  }
  const dial = transport.dial.bind(transport)
  transport.dial = (request) =>
    dial({ ...request, onOpen: (connection) => request.onOpen(tapped(connection)) })
  let onInbound = transport.onInbound
  Object.defineProperty(transport, 'onInbound', {
    get: () => (connection: Connection) => onInbound(tapped(connection)),
    set: (given: Transport['onInbound']) => void (onInbound = given),
  })
  return transport
}

/** The text of the message in a data packet. */
function textIn(packet: Uint8Array): string | undefined {
  const [raw] = readPackets(packet)
  if (raw?.type !== PacketType.data) return undefined
  return new TextDecoder().decode(decodeBatch(raw.body).messages[0]?.content)
}

async function world(): Promise<void> {
  swarm = new Swarm()
  started.push(...(await swarm.grow(4)))
}

it('reads and publishes through a host, and is in no overlay', async () => {
  await world()
  const first = await host('host 0')
  swarm.clock.advanceBy(2_000)
  const guest = await light('guest', ['host 0'])
  guest.node.join(partId)
  swarm.clock.advanceBy(1_000)
  const publisher = new TestPublisher('publisher', swarm.clock)
  started[0]?.node.publish(publisher.next('to all'))
  guest.node.publish(new TestPublisher('guest', swarm.clock).next('of the guest'))
  swarm.clock.advanceBy(1_000)
  for (const member of [...started]) expect(member.texts().toSorted()).toEqual(['of the guest', 'to all'])
  expect(guest.node.neighboursOf(partId)).toEqual([first.node.nodeId])
  expect(neighboursOf(first)).not.toContain(guest.node.nodeId)
  expect(swarm.tracker.lastStatus(guest.node.nodeId)).toBeUndefined()
  expect(swarm.tracker.lastStatus(first.node.nodeId)?.neighbours.map(({ nodeId }) => nodeId)).not.toContain(
    guest.node.nodeId,
  )
})

/** Two hosts and a guest of both, and a publisher that publishes numbers, one in 100 ms. */
async function guestOfTwo(sends?: (packet: Uint8Array, peerId: NodeId) => boolean) {
  await world()
  const hosts = [await host('host 0'), await host('host 1', sends)]
  swarm.clock.advanceBy(2_000)
  const guest = await light('guest', ['host 0', 'host 1'])
  guest.node.join(partId)
  swarm.clock.advanceBy(1_000)
  const publisher = new TestPublisher('publisher', swarm.clock)
  let published = 0
  const publish = (count: number): void => {
    for (let i = 0; i < count; i++) {
      started[0]?.node.publish(publisher.next(String(published++)))
      swarm.clock.advanceBy(100)
    }
  }
  return { hosts, guest, publish, all: () => Array.from({ length: published }, (_, i) => String(i)) }
}

const guestId = identityOf('guest').nodeId

it('reports which messages a host withholds, and gets them from the other', async () => {
  const { guest, publish, all, hosts } = await guestOfTwo(
    (packet, peerId) => peerId !== guestId || !['7', '8', '12'].includes(textIn(packet) ?? ''),
  )
  publish(1)
  swarm.clock.advanceBy(networkLimits.hostClockMs)
  publish(19)
  swarm.clock.advanceBy(20_000)
  expect(guest.texts()).toEqual(all())
  const places = guest.deliveries.map(({ message }) => message.timestamp)
  const ranges = guest.withheld.flatMap((report) => report.ranges)
  expect(ranges.map(({ upTo }) => upTo.timestamp)).toEqual([places[7], places[8], places[12]])
  expect(guest.withheld.reduce((sum, { messages }) => sum + messages, 0)).toBe(3)
  for (const { hostId, deliveredBy } of guest.withheld)
    expect([hostId, deliveredBy]).toEqual([hosts[1]?.node.nodeId, [hosts[0]?.node.nodeId]])
  expect(guest.node.hosts.map(({ withheld }) => withheld)).toEqual([0, 3])
})

it('does not blame a host that is slow, whose link loses packets, or whose link is lost', async () => {
  const { guest, publish, all, hosts } = await guestOfTwo(
    // A full queue: for a second of five nothing gets through.
    (packet, peerId) =>
      peerId !== guestId || textIn(packet) === undefined || swarm.clock.monotonicMs() % 5_000 > 1_000,
  )
  publish(40)
  swarm.clock.advanceBy(20_000)
  swarm.network.setOnline(hosts[1]?.node.nodeId ?? guestId, false)
  publish(40)
  swarm.clock.advanceBy(60_000)
  expect(guest.texts()).toEqual(all())
  expect(guest.withheld).toEqual([])
})

it('forwards nothing between its hosts, and gives nothing of others when asked', async () => {
  const { guest, publish, hosts } = await guestOfTwo()
  const forwarded: string[] = []
  publish(10)
  for (const { node } of hosts)
    node.on('message', ({ from }) => from === guestId && forwarded.push('message'))
  publish(10)
  swarm.clock.advanceBy(5_000)
  expect(forwarded).toEqual([])
  expect(guest.node.metrics().counters['data.forwarded']).toBe(0)
  expect(guest.node.metrics().counters['fetch.answered']).toBe(0)
})

it('leaves a host that brings nothing for another', async () => {
  await world()
  await host('host 0')
  await host('host 1', (packet, peerId) => peerId !== guestId || textIn(packet) === undefined)
  await host('host 2')
  swarm.clock.advanceBy(2_000)
  const guest = await light('guest', ['host 0', 'host 1', 'host 2'])
  guest.node.join(partId)
  const publisher = new TestPublisher('publisher', swarm.clock)
  for (let i = 0; i < 50; i++) {
    started[0]?.node.publish(publisher.next(String(i)))
    swarm.clock.advanceBy(1_000)
  }
  expect(guest.texts()).toEqual(Array.from({ length: 50 }, (_, i) => String(i)))
  expect(guest.news.map(({ nodeId, state }) => [nodeId, state])).toContainEqual([
    identityOf('host 1').nodeId,
    'silent',
  ])
  const linked = guest.node.hosts.map(({ nodeId }) => nodeId)
  expect(linked).toEqual(['host 0', 'host 2'].map((name) => identityOf(name).nodeId))
})

it('brings what a delegate signed from one guest to another and to the overlay, with its delegation', async () => {
  await world()
  await host('host 0')
  await host('host 1')
  swarm.clock.advanceBy(2_000)
  const [publishes, reads] = [await light('publishes', ['host 0'], 1), await light('reads', ['host 1'], 1)]
  for (const { node } of [publishes, reads]) node.join(partId)
  swarm.clock.advanceBy(1_000)
  const [user, delegate] = [identityOf('publishes'), identityOf('delegate')]
  const timestamp = swarm.clock.now()
  const claim: DelegationClaim = {
    ...{ chainId: 0, userId: user.nodeId, delegateId: delegate.nodeId, requester: '', block: 0 },
    ...{ fromMs: timestamp, untilMs: timestamp + 60_000, publishes: true, reads: false, streams: [] },
  }
  const signed = (delegation: Delegation, content: string, place: MessageRef): BuiltBatch => {
    const signer = { ...delegate, delegationRef: publishes.node.delegations.add(delegation) }
    const chain = { streamId, partition: 0, publisherId: user.nodeId, messageChainId: content }
    const kind = { previous: undefined, contentType: 2, encryptionType: 0, groupKeyId: '' }
    const messages = [{ ...place, ...kind, content: new TextEncoder().encode(content) }]
    return buildBatch({ chain, messages }, crypto, signer)
  }
  const delegation = signDelegation(claim, crypto, user)
  const forged = signDelegation({ ...claim, requester: 'forged' }, crypto, delegate)
  publishes.node.publish(signed(delegation, 'of a delegate', { timestamp, sequenceNumber: 0 }))
  swarm.clock.advanceBy(1_000)
  for (const member of [...started.slice(0, 4), reads]) expect(member.texts()).toEqual(['of a delegate'])
  publishes.node.publish(signed(forged, 'of nobody', { timestamp, sequenceNumber: 0 }))
  swarm.clock.advanceBy(1_000)
  for (const member of [...started.slice(0, 4), reads]) expect(member.texts()).toEqual(['of a delegate'])
})
