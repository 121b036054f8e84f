import { addressOf, toStreamId, toStreamPartId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, newAccount, nextStatus, startTracker, take } from './client.testkit.ts'
import type { ClientConfig, RunnelClient, StaticNetwork } from './index.ts'

const owner = newAccount()
const reader = newAccount()
const hostKey = newAccount()
const id = (path: string) => `${owner.nodeId}/${path}`
const everything = { publish: true, subscribe: true } as const
const guests = { serve: true }

let tracker: Tracker
let document: StaticNetwork
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  document = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      { id: id('open'), permissions: [{ user: 'public', ...everything }] },
      { id: id('other'), permissions: [{ user: 'public', ...everything }] },
      {
        id: id('secret'),
        permissions: [owner, reader, hostKey].map(({ nodeId }) => ({ user: nodeId, ...everything })),
      },
      {
        id: id('measured'),
        permissions: [
          { user: reader.nodeId, publish: true },
          { user: owner.nodeId, ...everything },
        ],
      },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

const urlOf = (client: RunnelClient): string => addressOf(client.network.contact, 'websocket') ?? ''

/** No tracker is named in its network: it cannot ask one. */
const light = (hosts: readonly (RunnelClient | string)[], config: Partial<ClientConfig> = {}) =>
  clients.create({
    network: { kind: 'static', document: { ...document, trackers: [] } },
    transports: {},
    via: hosts.map((host) => (typeof host === 'string' ? host : urlOf(host))),
    ...config,
  })

describe('a light client', () => {
  it('reads and publishes through a host, and asks no tracker', async () => {
    const [host, member] = await Promise.all([clients.create({ guests }), clients.create()])
    const client = await light([host])
    const [there, here] = await Promise.all([member.subscribe(id('open')), client.subscribe(id('open'))])
    await member.publish(id('open'), 'from a member')
    expect((await take(here, 1))[0]?.content).toBe('from a member')
    expect(await client.publish(id('open'), 'from a guest')).toMatchObject({ neighbours: 1 })
    expect((await take(there, 2)).map(({ content }) => content)).toEqual(['from a member', 'from a guest'])
    expect(client.hosts).toMatchObject([
      { url: urlOf(host), nodeId: host.nodeId, deliveredFirst: 1, withheld: 0 },
    ])
  })

  it('has a host join what it is not in, which leaves it to nobody else', async () => {
    const [host, member] = await Promise.all([clients.create({ guests }), clients.create()])
    const there = await member.subscribe(id('other'))
    const client = await light([host])
    await client.subscribe(id('other'))
    await client.publish(id('other'), 'of a guest alone')
    expect((await take(there, 1))[0]?.content).toBe('of a guest alone')
  })

  it('that only publishes is sent nothing until it subscribes', async () => {
    const [host, member] = await Promise.all([clients.create({ guests }), clients.create()])
    const there = await member.subscribe(id('other'))
    const client = await light([host])
    await client.publish(id('other'), 'to a member')
    await take(there, 1)
    await member.publish(id('other'), 'to nobody here')
    await member.publish(id('other'), 'nor this')
    await take(there, 2)
    await client.publish(id('other'), 'again')
    await take(there, 1)
    expect(client.hosts).toMatchObject([{ deliveredFirst: 0, withheld: 0 }])
    const here = await client.subscribe(id('other'))
    await member.publish(id('other'), 'to both')
    for await (const { content } of here) if (content === 'to both') break
  })

  it('says why a node is no host, and goes to the next', async () => {
    const [stranger, host] = await Promise.all([clients.create(), clients.create({ guests })])
    const client = await light(['ws://127.0.0.1:1', stranger, host], {})
    const failed = nextStatus(
      client,
      'host',
      ({ url, state }) => url === urlOf(stranger) && state === 'failed',
    )
    const unreachable = nextStatus(client, 'host', ({ url }) => url === 'ws://127.0.0.1:1')
    const connected = nextStatus(client, 'host', ({ state }) => state === 'connected')
    const subscription = await client.subscribe(id('open'))
    expect((await failed).error?.code).toBe('NOT_A_HOST')
    expect((await unreachable).error?.code).toBe('HOST_FAILED')
    expect((await connected).nodeId).toBe(host.nodeId)
    await host.publish(id('open'), 'after all')
    expect((await take(subscription, 1))[0]?.content).toBe('after all')
  })

  it('that may not read is refused, and one that may publish alone publishes', async () => {
    const host = await clients.create({ guests, privateKey: owner.privateKey })
    const got = await host.subscribe(id('measured'))
    const nobody = await light([host])
    const refused = nextStatus(nobody, 'host', ({ state }) => state === 'refused')
    nobody.network.join(toStreamPartId(toStreamId(id('measured')), 0))
    expect((await refused).error).toMatchObject({ code: 'HOST_REFUSED' })
    expect((await refused).error?.message).toContain('not-permitted')
    const feeder = await light([host], { privateKey: reader.privateKey })
    await feeder.publish(id('measured'), 21.5)
    expect((await take(got, 1))[0]?.content).toBe(21.5)
  })

  it('loses nothing, and gets nothing twice or out of order, when one of two hosts ends and others come', async () => {
    const hosts = await Promise.all([1, 2, 3].map(() => clients.create({ guests })))
    const publisher = await clients.create()
    const [first, second, third] = hosts as [RunnelClient, RunnelClient, RunnelClient]
    const client = await light([first, second, third])
    const subscription = await client.subscribe(id('open'))
    const echo = await publisher.subscribe(id('open'))
    await publisher.publish(id('open'), 0)
    await client.publish(id('open'), 'own 0')
    const gone = [first.close(), publisher.publish(id('open'), 1), client.publish(id('open'), 'own 1')]
    for (let i = 2; i < 50; i++) {
      await publisher.publish(id('open'), i)
      await client.publish(id('open'), `own ${i}`)
    }
    await Promise.all(gone)
    const got = (await take(subscription, 100)).map(({ content }) => content)
    expect(got.filter((content) => typeof content === 'number')).toEqual(
      Array.from({ length: 50 }, (_, i) => i),
    )
    const echoed = (await take(echo, 100)).map(({ content }) => content)
    const own = Array.from({ length: 50 }, (_, i) => `own ${i}`)
    expect(echoed.filter((content) => typeof content === 'string')).toEqual(own)
    expect(client.hosts.map(({ nodeId }) => nodeId)).not.toContain(first.nodeId)
  })

  it('finds last values, presence and replies through its hosts', async () => {
    const [host, member] = await Promise.all([clients.create({ guests }), clients.create()])
    const client = await light([host])
    // A host that comes to be in the stream for a guest knows nothing from before.
    const atHost = await host.subscribe(id('open'))
    await member.publish(id('open'), 'newest', { key: 'kitchen' })
    await take(atHost, 1)
    await client.subscribe(id('open'))
    expect((await client.last(id('open'), { key: 'kitchen' }))?.content).toBe('newest')
    await member.respond(id('other'), ({ content }) => `re: ${String(content)}`)
    expect((await client.request(id('other'), 'hello')).content).toBe('re: hello')
    const presence = await client.presence(id('open'))
    const seen = take(presence, 1)
    await member.presence(id('open'), { as: { name: 'kitchen' } })
    expect(await seen).toMatchObject([{ type: 'joined', nodeId: member.nodeId, data: { name: 'kitchen' } }])
  })

  it('is not told how many are in a stream, nor counted', async () => {
    const [host, member] = await Promise.all([clients.create({ guests }), clients.create()])
    const client = await light([host])
    for (const each of [member, client]) await each.subscribe(id('open'))
    await member.network.waitForNeighbours(toStreamPartId(toStreamId(id('open')), 0))
    await expect(client.count(id('open'))).rejects.toMatchObject({ code: 'COUNT_UNAVAILABLE' })
    expect(await member.count(id('open'))).toMatchObject({ readers: 2, feeders: 0 })
  })

  it('reads and publishes what is encrypted, whose keys come through its hosts as well', async () => {
    const hosts = await Promise.all(
      [1, 2].map(() => clients.create({ guests, privateKey: hostKey.privateKey })),
    )
    const member = await clients.create({ privateKey: owner.privateKey })
    const client = await light(hosts, { privateKey: reader.privateKey })
    const here = await client.subscribe(id('secret'))
    const there = await member.subscribe(id('secret'))
    const types: number[] = []
    client.network.on('message', ({ message }) =>
      types.push(message.partition === 0 ? message.encryptionType : 2),
    )
    await member.publish(id('secret'), 'of a member')
    expect((await take(here, 1))[0]?.content).toBe('of a member')
    await client.publish(id('secret'), 'of a guest')
    expect((await take(there, 2)).map(({ content }) => content)).toEqual(['of a member', 'of a guest'])
    expect(new Set(types)).toEqual(new Set([2]))
  })
})
