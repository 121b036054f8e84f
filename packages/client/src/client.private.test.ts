import { TrackerClosedError } from '@runnel/network'
import { addressOf, toStreamId, toStreamPartId, type NodeId, type RunnelError } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, newIdentity, nextStatus, startTracker, take } from './client.testkit.ts'
import { openRegistry, type ClientConfig, type RegistryService, type RunnelClient } from './index.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'
import { deployMultisig, multisigSigner } from './registry/multisig.testkit.ts'

let chain: TestChain
let network: Omit<ClientConfig, 'privateKey'>
let registry: RegistryService
let tracker: Tracker
let clients: Clients
let streamId: string

/** Goes by a document of its own, and so knows of no list: what a node does that does not care. */
let defiant: Pick<ClientConfig, 'network'>

beforeAll(async () => {
  chain = await startTestChain({ permissioned: true })
  const { url: rpcUrl, registries, accounts } = chain
  network = {
    network: { kind: 'chain', rpcUrl, chainId: 31337, registries },
    registry: { pollIntervalMs: 20 },
  }
  registry = await openRegistry(network)
  tracker = await startTracker(newIdentity(), { admission: registry.admission })
  clients = new Clients(network)
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  await mined(chain.nodes.allowNodes([accounts[0].nodeId, accounts[1].nodeId]))
  streamId = `${accounts[0].nodeId}/private`
  await mined(chain.streams.createStream('private', '{}', 1, []))
  const forever = 2n ** 64n - 1n
  await mined(chain.streams.setPublicPermissions(streamId, forever, forever))
  const permissions = [{ user: 'public' as const, publish: true, subscribe: true }]
  defiant = {
    network: {
      kind: 'static',
      document: {
        version: 1,
        chainId: 31337,
        trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
        streams: [{ id: streamId, permissions }],
      },
    },
  }
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await tracker.stop()
  await registry.stop()
  await chain.stop()
})

const publisher = () => clients.create({ privateKey: chain.accounts[0].privateKey })
const subscriber = () => clients.create({ privateKey: chain.accounts[1].privateKey })

/** Whether a tracker said that it will not have this node. */
const refused = (error: RunnelError | undefined) =>
  error instanceof TrackerClosedError && error.closeCode === 'NODE_NOT_LISTED'

function refusedByTracker(client: RunnelClient): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  client.network.on('tracker', (_, state, error) => state === 'disconnected' && refused(error) && resolve())
  return promise
}

function linkClosed(client: RunnelClient, peer: NodeId): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  client.network.on('linkClosed', (peerId) => peerId === peer && resolve())
  return promise
}

const isGone = ({ neighbours }: { neighbours: readonly NodeId[] }) => neighbours.length === 0

/** What a new subscription gets first, of what is published after it was made. */
async function firstContent(client: RunnelClient, publish: () => Promise<unknown>): Promise<unknown> {
  const subscription = await client.subscribe(streamId)
  await publish()
  const [message] = await take(subscription, 1)
  return message?.content
}

describe('a private network', () => {
  it('carries the messages of nodes that are listed', async () => {
    const [alice, bob] = [await publisher(), await subscriber()]
    expect([alice.isListed, bob.isListed]).toEqual([true, true])
    expect(await firstContent(bob, () => alice.publish(streamId, 'hello'))).toBe('hello')
  })

  it('carries the messages of two processes of one listed user', async () => {
    const [one, two] = [await publisher(), await publisher()]
    expect(one.nodeId).not.toBe(two.nodeId)
    expect(await firstContent(two, () => one.publish(streamId, 'from here'))).toBe('from here')
  })

  it('carries the messages of a contract account that is listed', async () => {
    const account = await deployMultisig(chain.accounts[0].wallet)
    await mined(chain.nodes.allowNodes([account.nodeId]))
    const [team, bob] = [
      await clients.create({ signer: multisigSigner(account, account.owners) }),
      await subscriber(),
    ]
    expect(team.isListed).toBe(true)
    expect(await firstContent(bob, () => team.publish(streamId, 'of the team'))).toBe('of the team')
  })

  it('tells a client at once that its user is not listed, and what to do', async () => {
    const client = await clients.create()
    expect(client.isListed).toBe(false)
    const expected = {
      code: 'NODE_NOT_LISTED',
      message: expect.stringContaining(client.userId),
      remedy: expect.stringContaining('runnel registry allow-node'),
    }
    await expect(client.publish(streamId, 'x')).rejects.toMatchObject(expected)
    await expect(client.subscribe(streamId)).rejects.toMatchObject(expected)
    await expect(client.resend(streamId, { last: 1 }).next()).rejects.toMatchObject(expected)
    // The registry is open to everybody all the same.
    expect(await client.getStream(streamId)).toMatchObject({ id: streamId })
  })

  it('keeps out a node that comes regardless, by the tracker or straight to a listed node', async () => {
    const bob = await subscriber()
    const stranger = await clients.create(defiant)
    await bob.subscribe(streamId)
    const toldByTracker = refusedByTracker(stranger)
    await stranger.subscribe(streamId)
    await toldByTracker
    const toldByPeer = linkClosed(stranger, bob.nodeId)
    const streamPartId = toStreamPartId(toStreamId(streamId), 0)
    const peer = { nodeId: bob.nodeId, contact: bob.network.contact }
    await stranger.network.connect(peer, { streamPartId })
    await toldByPeer
    expect(bob.network.metrics().streamParts).toMatchObject([{ neighbours: [] }])
    expect(bob.network.metrics().counters['links.open']).toBe(0)
  })

  it('lets a node in when it is listed, and has it out when it is removed', async () => {
    const [alice, bob] = [await publisher(), await subscriber()]
    const carol = await clients.create()
    const listed = nextStatus(carol, 'admission')
    await mined(chain.nodes.allowNodes([carol.userId]))
    expect(await listed).toMatchObject({ isListed: true })
    const bobs = await bob.subscribe(streamId)
    expect(await firstContent(carol, () => alice.publish(streamId, 'one'))).toBe('one')

    const removed = nextStatus(carol, 'admission')
    const alone = nextStatus(carol, 'neighbours', isGone)
    await mined(chain.nodes.removeNodes([carol.userId]))
    expect(await removed).toMatchObject({ isListed: false })
    await alone
    await expect(carol.publish(streamId, 'mine')).rejects.toMatchObject({ code: 'NODE_NOT_LISTED' })
    await alice.publish(streamId, 'two')
    expect((await take(bobs, 2)).map(({ content }) => content)).toEqual(['one', 'two'])
  })

  it('has a removed node out that does not care, and gives it nothing more', async () => {
    const [alice, bob] = [await publisher(), await subscriber()]
    const mallory = await clients.create(defiant)
    await mined(chain.nodes.allowNodes([mallory.userId]))
    const bobs = await bob.subscribe(streamId)
    const mallorys = await mallory.subscribe(streamId)
    await mallorys.waitForNeighbours()
    await alice.publish(streamId, 'one')
    expect((await take(mallorys, 1)).map(({ content }) => content)).toEqual(['one'])

    const told = refusedByTracker(mallory)
    const closed = [alice, bob].map((peer) => linkClosed(mallory, peer.nodeId))
    await mined(chain.nodes.removeNodes([mallory.userId]))
    await Promise.all([told, ...closed])
    await alice.publish(streamId, 'two')
    expect((await take(bobs, 2)).map(({ content }) => content)).toEqual(['one', 'two'])
    expect(
      [alice, bob].flatMap((client) => client.network.metrics().streamParts[0]?.neighbours),
    ).toMatchObject([{ nodeId: bob.nodeId }, { nodeId: alice.nodeId }])
    await mallory.close()
    expect(await take(mallorys, 1).catch(String)).toBe('Error: Ended after 0 of 1')
  })
})

it('lets light clients of listed users in through a host, and those of nobody else', async () => {
  const host = await clients.create({ privateKey: chain.accounts[0].privateKey, guests: { serve: true } })
  const url = addressOf(host.network.contact, 'websocket') ?? ''
  const light = (privateKey: string) => clients.create({ privateKey, transports: {}, via: [url] })
  const guest = await light(chain.accounts[1].privateKey)
  expect(await firstContent(guest, () => host.publish(streamId, 'for guests'))).toBe('for guests')
  const stranger = await light(chain.accounts[2].privateKey)
  const { error } = await nextStatus(stranger, 'host', ({ state }) => state !== 'connected')
  expect(error?.message).toContain('NODE_NOT_LISTED')
  const lost = nextStatus(guest, 'host', ({ state }) => state === 'lost')
  await mined(chain.nodes.removeNodes([chain.accounts[1].nodeId]))
  expect((await lost).error?.message).toContain('NODE_NOT_LISTED')
  await mined(chain.nodes.allowNodes([chain.accounts[1].nodeId]))
})
