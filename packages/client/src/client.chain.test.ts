import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, newAccount, nextStatus, startTracker, take } from './client.testkit.ts'
import type { ClientConfig, RunnelClient, StreamFilter } from './index.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'

let chain: TestChain
let tracker: Tracker
let clients: Clients
let alice: Partial<ClientConfig>
let bob: Partial<ClientConfig>
let paths = 0
/** Nobody has had a stream of this name before. */
const newPath = () => `test/${paths++}`

/** When the client has heard that the permissions of a user changed. */
const permissionsChanged = (client: RunnelClient, streamId: string, user: string) =>
  nextStatus(
    client,
    'registry',
    ({ change }) => change.kind === 'permissions' && change.streamId === streamId && change.user === user,
  )

function chainNetwork({ url, registries }: TestChain): Omit<ClientConfig, 'privateKey'> {
  return {
    network: { kind: 'chain', rpcUrl: url, chainId: 31337, registries },
    registry: { pollIntervalMs: 20 },
  }
}

beforeAll(async () => {
  chain = await startTestChain()
  tracker = await startTracker()
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  clients = new Clients(chainNetwork(chain))
  alice = { privateKey: chain.accounts[1].privateKey }
  bob = { privateKey: chain.accounts[2].privateKey }
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await tracker.stop()
  await chain.stop()
})

describe('streams on a chain', () => {
  it('live from creation to deletion', async () => {
    const client = await clients.create(alice)
    const path = newPath()
    const stream = await client.createStream({ path, partitions: 3, metadata: { unit: 'K' } })
    expect(stream).toEqual({
      id: `${client.userId}/${path}`,
      partitions: 3,
      metadata: '{"unit":"K"}',
      trackers: [],
      createdMs: expect.any(Number),
    })
    expect(await client.getStream(stream.id)).toEqual(stream)
    expect(await client.listStreams({ owner: client.userId })).toContainEqual(stream)
    await client.grant(stream.id, {
      user: 'public',
      permissions: ['subscribe'],
      expiresAt: new Date('2090-01-01'),
    })
    expect(await client.getPermissions(stream.id)).toEqual([
      {
        user: 'public',
        edit: false,
        delete: false,
        grant: false,
        publishUntilMs: 0,
        subscribeUntilMs: Date.UTC(2090, 0, 1),
      },
      {
        user: client.userId,
        edit: true,
        delete: true,
        grant: true,
        publishUntilMs: Infinity,
        subscribeUntilMs: Infinity,
      },
    ])
    await expect(client.createStream({ path })).rejects.toMatchObject({ code: 'STREAM_EXISTS' })
    await client.updateStream(`/${path}`, { partitions: 5 })
    expect(await client.getStream(stream.id)).toEqual({ ...stream, partitions: 5 })
    await client.updateStream(stream.id, { metadata: { unit: 'C' }, trackers: [tracker.nodeId] })
    expect(await client.getStream(stream.id)).toEqual({
      ...stream,
      ...{ partitions: 5, metadata: '{"unit":"C"}', trackers: [tracker.nodeId] },
    })
    const other = await clients.create(bob)
    await expect(other.updateStream(stream.id, { partitions: 1 })).rejects.toMatchObject({
      code: 'REGISTRY_REFUSED',
    })
    const found = async (filter: StreamFilter) => (await other.listStreams(filter)).map(({ id }) => id)
    expect(await found({ prefix: `${client.userId.toUpperCase().replace('0X', '0x')}/${path}` })).toEqual([
      stream.id,
    ])
    expect(await found({ prefix: '/', owner: client.userId })).toEqual([])
    expect(await found({ owner: client.userId, permission: 'subscribe' })).toContain(stream.id)
    expect(await found({ owner: client.userId, permission: 'publish' })).not.toContain(stream.id)
    expect(await found({ prefix: stream.id, permission: 'edit', user: client.userId })).toEqual([stream.id])
    await client.deleteStream(stream.id)
    await expect(client.getStream(stream.id)).rejects.toMatchObject({ code: 'STREAM_NOT_FOUND' })
    await expect(client.publish(stream.id, 1)).rejects.toMatchObject({ code: 'STREAM_NOT_FOUND' })
  })

  it('carry messages of those who may publish to those who may subscribe', async () => {
    const [owner, guest] = await Promise.all([clients.create(alice), clients.create(bob)])
    const { id } = await owner.createStream({ path: newPath() })
    await expect(guest.subscribe(id)).rejects.toMatchObject({ code: 'NO_SUBSCRIBE_PERMISSION' })
    const granted = permissionsChanged(guest, id, guest.userId)
    await owner.grant(id, { user: guest.userId, permissions: ['subscribe'] })
    await granted
    const [heardByOwner, heardByGuest] = await Promise.all([owner.subscribe(id), guest.subscribe(id)])
    await owner.publish(id, 'from the owner')
    await expect(guest.publish(id, 1)).rejects.toMatchObject({ code: 'NO_PUBLISH_PERMISSION' })
    const mayPublish = permissionsChanged(guest, id, guest.userId)
    await owner.grant(id, { user: guest.userId, permissions: ['publish'] })
    await mayPublish
    await guest.publish(id, 'from the guest')
    const contents = (messages: { content: unknown }[]) => messages.map(({ content }) => content).sort()
    expect(contents(await take(heardByOwner, 2))).toEqual(['from the guest', 'from the owner'])
    expect(contents(await take(heardByGuest, 2))).toEqual(['from the guest', 'from the owner'])
  })

  it('take no more from a publisher whose permission was revoked while it ran', async () => {
    const [owner, guest] = await Promise.all([clients.create(alice), clients.create(bob)])
    const { id } = await owner.createStream({ path: newPath() })
    await owner.grant(id, { user: guest.userId, permissions: ['publish'] })
    const subscription = await owner.subscribe(id)
    await guest.publish(id, 1)
    expect(await take(subscription, 1)).toHaveLength(1)
    const revoked = permissionsChanged(guest, id, guest.userId)
    await owner.revoke(id, { user: guest.userId, permissions: ['publish'] })
    await revoked
    await expect(guest.publish(id, 2)).rejects.toMatchObject({ code: 'NO_PUBLISH_PERMISSION' })
  })

  it('end the subscriptions of a user whose permission was revoked, with the reason, also where it is granted again', async () => {
    const [owner, guest] = await Promise.all([clients.create(alice), clients.create(bob)])
    const { id } = await owner.createStream({ path: newPath() })
    const granted = permissionsChanged(guest, id, guest.userId)
    await owner.grant(id, { user: guest.userId, permissions: ['subscribe'] })
    await granted
    const reason = { code: 'NO_SUBSCRIBE_PERMISSION' }
    const iterated = await guest.subscribe(id)
    const called = Promise.withResolvers<Error>()
    await guest.subscribe(id, { onEnded: called.resolve }, () => {})
    const responding = Promise.withResolvers<Error>()
    await guest.respond(id, () => 1, { onEnded: responding.resolve })
    await owner.publish(id, 'before')
    await expect.poll(() => iterated.counters().received).toBe(1)
    const told = nextStatus(guest, 'subscription-ended')
    await owner.revoke(id, { user: guest.userId, permissions: ['subscribe'] })
    expect(await told).toMatchObject({ streamId: id, error: reason })
    expect(await called.promise).toMatchObject(reason)
    expect(await responding.promise).toMatchObject(reason)
    const grantedAgain = permissionsChanged(guest, id, guest.userId)
    await owner.grant(id, { user: guest.userId, permissions: ['subscribe'] })
    await grantedAgain
    const next = await guest.subscribe(id)
    await owner.publish(id, 'after')
    for await (const { content } of next) if (content === 'after') break
    expect(await take(iterated, 1)).toMatchObject([{ content: 'before' }])
    await expect(take(iterated, 1)).rejects.toMatchObject(reason)
  })

  it('go on with a subscription whose permission is soon back, as when a chain reverts the block of a grant', async () => {
    const [owner, guest] = await Promise.all([clients.create(alice), clients.create(bob)])
    const { id } = await owner.createStream({ path: newPath() })
    const change = async (does: 'grant' | 'revoke') => {
      const changed = permissionsChanged(guest, id, guest.userId)
      await owner[does](id, { user: guest.userId, permissions: ['subscribe'] })
      await changed
    }
    await change('grant')
    const subscription = await guest.subscribe(id)
    await change('revoke')
    await change('grant')
    await owner.publish(id, 'after')
    expect(await take(subscription, 1)).toMatchObject([{ content: 'after' }])
  })

  it('end the recordings of a user whose permission was revoked, with the reason', async () => {
    const [owner, guest] = await Promise.all([clients.create(alice), clients.create(bob)])
    const { id } = await owner.createStream({ path: newPath() })
    await owner.grant(id, { user: 'public', permissions: ['subscribe'] })
    const to = await guest.createStream({ path: newPath() })
    await guest.registerStorageNode('ws://127.0.0.1:1')
    await guest.addToStorageNode(to.id, guest.userId)
    const ended = Promise.withResolvers<Error>()
    await guest.record(id, to.id, { onEnded: ended.resolve })
    await owner.revoke(id, { user: 'public', permissions: ['subscribe'] })
    expect(await ended.promise).toMatchObject({ code: 'NO_SUBSCRIBE_PERMISSION' })
  })

  it('are read in the partitions, too, that they get while they are read, from their first message on', async () => {
    const [owner, guest] = await Promise.all([clients.create(alice), clients.create(bob)])
    const { id } = await owner.createStream({ path: newPath() })
    await owner.grant(id, { user: 'public', permissions: ['subscribe'] })
    const all = await guest.subscribe(id)
    const first = await guest.subscribe(id, { partitions: [0] })
    await owner.subscribe(id)
    await all.waitForNeighbours()
    await owner.publish(id, 'in 0', { partition: 0 })
    await owner.updateStream(id, { partitions: 3 })
    await Promise.all([1, 2].map((partition) => owner.publish(id, `in ${partition}`, { partition })))
    const got = await take(all, 3)
    expect(got.map(({ content }) => content).sort()).toEqual(['in 0', 'in 1', 'in 2'])
    expect([all.partitions, first.partitions]).toEqual([[0, 1, 2], [0]])
    expect(all.streamPartIds).toEqual([0, 1, 2].map((partition) => `${id}#${partition}`))
  })

  it('end the subscriptions of a stream that is deleted, while they read', async () => {
    const [owner, guest] = await Promise.all([clients.create(alice), clients.create(bob)])
    const { id } = await owner.createStream({ path: newPath() })
    const granted = permissionsChanged(guest, id, guest.userId)
    await owner.grant(id, { user: guest.userId, permissions: ['subscribe'] })
    await granted
    const reading = expect(take(await guest.subscribe(id), 1)).rejects.toMatchObject({
      code: 'STREAM_NOT_FOUND',
    })
    await owner.deleteStream(id)
    await reading
  })

  it('are told apart from a chain that cannot be written to without money', async () => {
    const { privateKey } = newAccount()
    const poor = await clients.create({ privateKey })
    await expect(poor.createStream({ path: newPath() })).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
  })
})

describe('trackers on a chain', () => {
  it('are followed while the client runs: a tracker of the stream’s own takes over', async () => {
    const client = await clients.create(alice)
    const own = await startTracker()
    await mined(chain.trackers.addTracker(own.nodeId, own.url, ''))
    const { id } = await client.createStream({ path: newPath(), trackers: [tracker.nodeId] })
    const first = nextStatus(client, 'tracker', ({ trackerId }) => trackerId === tracker.nodeId)
    await client.subscribe(id)
    expect(await first).toMatchObject({ state: 'connected' })
    const second = nextStatus(client, 'tracker', ({ trackerId }) => trackerId === own.nodeId)
    await mined(chain.streams.connect(chain.accounts[1].wallet).setTrackers(id, [own.nodeId]))
    expect(await second).toMatchObject({ state: 'connected' })
    await client.close()
    await mined(chain.trackers.removeTracker(own.nodeId))
    await own.stop()
  })
})

describe('a chain that goes away', () => {
  it('costs nothing that is known already, and is said to be away and back', async () => {
    const other = await startTestChain()
    await mined(other.trackers.addTracker(tracker.nodeId, tracker.url, ''))
    const ours = new Clients(chainNetwork(other))
    const publisher = await ours.create(alice)
    const { id } = await publisher.createStream({ path: 'durable' })
    await publisher.grant(id, { user: 'public', permissions: ['subscribe'] })
    const subscriber = await ours.create()
    const subscription = await subscriber.subscribe(id)
    await publisher.publish(id, 'before')
    await take(subscription, 1)

    const away = nextStatus(publisher, 'chain')
    await other.stop()
    expect(await away).toMatchObject({ state: 'unreachable', source: other.url })
    await publisher.publish(id, 'meanwhile')
    expect((await take(subscription, 1))[0]?.content).toBe('meanwhile')
    await expect(publisher.createStream({ path: 'new' })).rejects.toMatchObject({
      code: 'CHAIN_UNREACHABLE',
      message: expect.stringContaining(other.url),
    })

    const back = nextStatus(publisher, 'chain')
    const again = await startTestChain({ port: Number(new URL(other.url).port) })
    expect(await back).toMatchObject({ state: 'reachable' })
    await ours.closeAll()
    await again.stop()
  })

  it('before the client starts ends it with the URL', async () => {
    const { registries } = chain
    const network = { kind: 'chain', rpcUrl: 'http://127.0.0.1:1', registries } as const
    await expect(clients.create({ network })).rejects.toMatchObject({
      code: 'CHAIN_UNREACHABLE',
      message: expect.stringContaining('http://127.0.0.1:1'),
    })
  })
})
