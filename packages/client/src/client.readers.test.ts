import { createNetworkNode, type NetworkNode, type PublisherPolicy } from '@runnel/network'
import {
  addressOf,
  decodePacket,
  encodePacket,
  keyPartition,
  loadCrypto,
  toStreamId,
  toStreamPartId,
  type NodeId,
  type Packet,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { WebSocketTransport, type Connection } from '@runnel/transport'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, newIdentity, nextStatus, take } from './client.testkit.ts'
import { openRegistry, type ClientConfig, type RegistryService, type RunnelClient } from './index.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'

const crypto = await loadCrypto()
const clock = systemClock
const random = systemRandom

let chain: TestChain
let registry: RegistryService
let tracker: Tracker
let clients: Clients
let alice: Partial<ClientConfig>
let bob: Partial<ClientConfig>
const strangers: NetworkNode[] = []
let paths = 0

const network = (): Omit<ClientConfig, 'privateKey'> => ({
  network: { kind: 'chain', rpcUrl: chain.url, chainId: 31337, registries: chain.registries },
  registry: { pollIntervalMs: 20 },
})

/** A node that asks no registry, with a key that nobody has heard of. */
async function stranger(): Promise<NetworkNode> {
  const believing: PublisherPolicy = { check: () => 'allowed', resolve: async () => {} }
  const node = createNetworkNode(
    { transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } },
    {
      ...{ identity: newIdentity(), crypto, clock, random, publisherPolicy: believing },
      trackers: {
        trackersFor: () => [{ nodeId: tracker.nodeId, url: tracker.url }],
        onChange: () => () => {},
      },
    },
  )
  strangers.push(node)
  await node.start()
  return node
}

const neighboursOf = (client: RunnelClient, streamPartId: string, nodeIds: readonly NodeId[]) =>
  nextStatus(
    client,
    'neighbours',
    (status) =>
      status.streamPartId === streamPartId &&
      nodeIds.every((id) => status.neighbours.includes(id)) &&
      status.neighbours.length === nodeIds.length,
  )

beforeAll(async () => {
  chain = await startTestChain()
  registry = await openRegistry(network())
  const modules = { crypto, clock, random }
  const permissions = { readers: registry.readerPolicy, publishers: registry.publisherPolicy }
  tracker = createTracker({ listen: { port: 0 } }, { ...modules, identity: newIdentity(), permissions })
  await tracker.start()
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  clients = new Clients(network())
  alice = { privateKey: chain.accounts[1].privateKey }
  bob = { privateKey: chain.accounts[2].privateKey }
})
afterEach(async () => {
  await clients.closeAll()
  await Promise.all(strangers.splice(0).map((node) => node.stop()))
})
afterAll(async () => {
  await Promise.all([tracker.stop(), registry.stop()])
  await chain.stop()
})

describe('a stream that is not public', () => {
  it('is heard by nobody whom the tracker would have to put into its overlay', async () => {
    const owner = await clients.create(alice)
    const { id } = await owner.createStream({ path: `readers/${paths++}` })
    await owner.subscribe(id)
    const eve = await stranger()
    const refused = new Promise<string>((resolve) => {
      eve.on('dropped', (counter, detail) => counter === 'tracker.refused' && resolve(detail))
    })
    eve.join(toStreamPartId(toStreamId(id), 0))
    expect(await refused).toMatch(/^NOT_PERMITTED/)
    expect(tracker.overlays.flatMap(({ nodes }) => nodes)).not.toContain(eve.nodeId)
  })

  it('is heard by nobody who attaches to a neighbour on its own', async () => {
    const owner = await clients.create(alice)
    const { id } = await owner.createStream({ path: `readers/${paths++}` })
    const streamPartId = toStreamPartId(toStreamId(id), 0)
    const subscription = await owner.subscribe(id)
    const transport = new WebSocketTransport(
      { role: 'node' },
      { clock, random, crypto, identity: newIdentity() },
    )
    await transport.start()
    try {
      const { nodeId: peerId, contact } = owner.network
      const connection = await new Promise<Connection>((onOpen, onFail) =>
        transport.dial({ peerId, url: addressOf(contact, 'websocket') ?? '', onOpen, onFail }),
      )
      const heard: Packet[] = []
      const detached = new Promise<Packet>((resolve) => {
        connection.events.onPacket = (type, body) => {
          const packet = decodePacket(type, body.slice())
          heard.push(packet)
          if (packet.type === 'detach') resolve(packet)
        }
      })
      connection.send(encodePacket({ type: 'attach', streamPartId, sinceMs: 30_000, heads: [] }))
      expect(await detached).toMatchObject({ reason: 'not-permitted' })
      await owner.publish(id, 'secret')
      await take(subscription, 1)
      const closed = new Promise((resolve) => (connection.events.onClose = resolve))
      await owner.close()
      await closed
      expect(heard.map(({ type }) => type)).toEqual(['detach'])
    } finally {
      await transport.stop()
    }
  })

  it('is no longer heard by a reader whose permission is revoked, whose neighbours let go of it at once', async () => {
    const [owner, guest] = await Promise.all([clients.create(alice), clients.create(bob)])
    const { id } = await owner.createStream({ path: `readers/${paths++}` })
    const part = toStreamPartId(toStreamId(id), 0)
    await owner.grant(id, { user: guest.userId, permissions: ['subscribe'] })
    const subscription = await owner.subscribe(id)
    const attached = neighboursOf(owner, part, [guest.network.nodeId])
    const heard = await guest.subscribe(id)
    await attached
    await owner.publish(id, 'while permitted')
    expect((await take(heard, 1))[0]?.content).toBe('while permitted')
    const detached = neighboursOf(owner, part, [])
    await owner.revoke(id, { user: guest.userId, permissions: ['subscribe'] })
    await detached
    await owner.publish(id, 'afterwards')
    expect((await take(subscription, 2)).map(({ content }) => content)).toEqual([
      'while permitted',
      'afterwards',
    ])
    expect(heard.counters().delivered).toBe(1)
  })
})

describe('who may publish and not subscribe', () => {
  it('is heard, is no neighbour in the overlay, and hears nothing', async () => {
    const [owner, guest] = await Promise.all([clients.create(alice), clients.create(bob)])
    const { id } = await owner.createStream({ path: `readers/${paths++}` })
    await owner.grant(id, { user: guest.userId, permissions: ['publish'] })
    const subscription = await owner.subscribe(id)
    const heard: unknown[] = []
    guest.network.on('message', ({ message, from }) => {
      if (from !== undefined && message.partition !== keyPartition) heard.push(message)
    })
    await guest.publish(id, 'from a sensor')
    expect((await take(subscription, 1))[0]).toMatchObject({
      content: 'from a sensor',
      publisherId: guest.userId,
    })
    await owner.publish(id, 'not for sensors')
    expect((await take(subscription, 1))[0]?.content).toBe('not for sensors')
    const overlay = tracker.overlays.find(({ streamPartId }) => streamPartId === `${id}#0`)
    expect(overlay?.nodes).toEqual([owner.network.nodeId])
    await guest.publish(id, 'once more')
    expect((await take(subscription, 1))[0]?.content).toBe('once more')
    expect(heard).toEqual([])
  })
})
