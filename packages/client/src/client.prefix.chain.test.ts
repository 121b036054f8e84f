import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Clients, nextStatus, startTracker, take } from './client.testkit.ts'
import type { ClientConfig, ClientStatus, Message, RunnelClient } from './index.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'

let chain: TestChain
let tracker: Tracker
let clients: Clients
let owner: RunnelClient
let reader: RunnelClient
let rooms = 0
/** Nobody has had streams there before. */
let room: string

type PrefixStatus = Extract<ClientStatus, { type: 'prefix' }>

beforeAll(async () => {
  chain = await startTestChain()
  tracker = await startTracker()
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  const { url: rpcUrl, registries } = chain
  const network: Omit<ClientConfig, 'privateKey'> = {
    network: { kind: 'chain', rpcUrl, chainId: 31337, registries },
    registry: { pollIntervalMs: 20 },
  }
  clients = new Clients(network)
})
beforeEach(async () => {
  const [, one, two] = chain.accounts
  owner = await clients.create({ privateKey: one.privateKey })
  reader = await clients.create({ privateKey: two.privateKey })
  room = `/room${rooms++}`
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await tracker.stop()
  await chain.stop()
})

/** The next status of a stream under the prefix, from now on. */
const news = (state: PrefixStatus['state'], path: string) =>
  nextStatus(
    reader,
    'prefix',
    (status) => status.state === state && status.streamId === owner.account + room + path,
  )

/** A stream that everybody may read, unless told otherwise. */
async function create(path: string, { isPublic = true, partitions = 1 } = {}): Promise<string> {
  const { id } = await owner.createStream({ path: `${room}${path}`.slice(1), partitions })
  if (isPublic) await owner.grant(id, { user: 'public', permissions: ['subscribe'] })
  return id
}

const said = (messages: readonly Message[]) =>
  messages.map(
    ({ streamId, content }) => `${streamId.slice(owner.account.length + room.length)} ${String(content)}`,
  )

const paths = ({ streamPartIds }: { readonly streamPartIds: readonly string[] }) =>
  streamPartIds.map((id) => id.slice(owner.account.length + room.length)).sort()

describe('a subscription to a prefix', () => {
  it('is to the stream of that name and all below it, and to what is created later', async () => {
    const [itself, below, beside] = [
      await create(''),
      await create('/a/b', { partitions: 2 }),
      await create('side'),
    ]
    const subscription = await reader.subscribe(`${owner.account.toUpperCase().replace('0X', '0x')}${room}/#`)
    expect(subscription.streamId).toBe(`${owner.account}${room}/#`)
    expect(paths(subscription)).toEqual(['#0', '/a/b#0', '/a/b#1'])
    await owner.publish(beside, 'beside')
    await owner.publish(itself, 'itself')
    await owner.publish(below, 'below')
    expect(said(await take(subscription, 2)).sort()).toEqual([' itself', '/a/b below'])

    const joined = news('joined', '/later')
    const later = await create('/later')
    await joined
    await owner.publish(later, 'later')
    expect(said(await take(subscription, 1))).toEqual(['/later later'])
    expect(subscription.counters()).toMatchObject({ received: 3, delivered: 3, dropped: 0, gaps: 0 })
    await subscription.unsubscribe()
    expect(paths(subscription)).toEqual([])
    expect(reader.network.streamParts).toEqual([])
    expect(await subscription[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined })
  })

  it('begins when the permission is granted, ends when it is revoked, and goes on with the others', async () => {
    const [open, closed] = [await create('/open'), await create('/closed', { isPublic: false })]
    const subscription = await reader.subscribe(`${owner.account}${room}/#`)
    expect(paths(subscription)).toEqual(['/open#0'])
    const joined = news('joined', '/closed')
    await owner.grant(closed, { user: reader.userId, permissions: ['subscribe'] })
    expect(await joined).toMatchObject({ prefix: subscription.streamId })
    expect(paths(subscription)).toEqual(['/closed#0', '/open#0'])
    await owner.publish(closed, 'encrypted')
    expect(said(await take(subscription, 1))).toEqual(['/closed encrypted'])
    const left = news('left', '/closed')
    await owner.revoke(closed, { user: reader.userId, permissions: ['subscribe'] })
    expect(await left).toMatchObject({
      error: {
        code: 'NO_SUBSCRIBE_PERMISSION',
        remedy: expect.stringContaining(`stream grant ${closed} ${reader.userId} subscribe`) as string,
      },
    })
    expect(paths(subscription)).toEqual(['/open#0'])
    await owner.publish(open, 'clear')
    expect(said(await take(subscription, 1))).toEqual(['/open clear'])
    expect(subscription.counters()).toMatchObject({ received: 2, delivered: 2 })
  })

  it('leaves what is deleted, and joins what has more partitions', async () => {
    const [gone, grows] = [await create('/gone'), await create('/grows')]
    const subscription = await reader.subscribe(`${owner.account}${room}/#`)
    const left = news('left', '/gone')
    await owner.deleteStream(gone)
    expect(await left).toMatchObject({ error: { code: 'STREAM_NOT_FOUND' } })
    const joined = news('joined', '/grows')
    await owner.updateStream(grows, { partitions: 3 })
    await joined
    expect(paths(subscription)).toEqual(['/grows#0', '/grows#1', '/grows#2'])
    for (const partition of [0, 1, 2]) await owner.publish(grows, partition, { partition })
    const contents = (await take(subscription, 3)).map(({ content }) => content)
    expect(contents.sort()).toEqual([0, 1, 2])
  })

  it('leaves out the newest of too many, says so, and takes them when others go', async () => {
    for (const path of ['/a', '/b', '/c']) await create(path)
    const full = nextStatus(reader, 'prefix-full')
    const subscription = await reader.subscribe(`${owner.account}${room}/#`, { maxStreams: 2 })
    expect(paths(subscription)).toEqual(['/a#0', '/b#0'])
    expect(await full).toMatchObject({ leftOut: 1, error: { code: 'TOO_MANY_STREAMS' } })
    const [fits, joined] = [nextStatus(reader, 'prefix-full'), news('joined', '/c')]
    await owner.deleteStream(`${room}/a`)
    await joined
    const { error, ...rest } = await fits
    expect([error, rest]).toEqual([undefined, expect.objectContaining({ leftOut: 0 })])
    expect(paths(subscription)).toEqual(['/b#0', '/c#0'])
  })

  it('of what one has oneself is written without the owner', async () => {
    const id = await create('/mine', { isPublic: false })
    const { promise, resolve } = Promise.withResolvers<Message>()
    const subscription = await owner.subscribe(`${room}/#`, {}, resolve)
    expect(paths(subscription)).toEqual(['/mine#0'])
    await owner.publish(id, 'to myself')
    expect(said([await promise])).toEqual(['/mine to myself'])
    expect(() => subscription[Symbol.asyncIterator]()).toThrow(/callback/)
  })

  it('goes on where one stream cannot be joined: no storage node has its history', async () => {
    await create('/live')
    const failed = news('failed', '/live')
    const subscription = await reader.subscribe(`${owner.account}${room}/#`, { resend: { last: 1 } })
    expect(await failed).toMatchObject({ error: { code: 'NO_STORAGE_NODE' } })
    expect(paths(subscription)).toEqual([])
  })

  it('ends with its signal and with the client, also while nothing is under the prefix', async () => {
    const controller = new AbortController()
    const ids = `${owner.account}${room}/#`
    const ending = await reader.subscribe(ids, { signal: controller.signal })
    controller.abort()
    const closing = await reader.subscribe(ids)
    await reader.close()
    for (const subscription of [ending, closing]) {
      const iterator = subscription[Symbol.asyncIterator]()
      expect(await iterator.next()).toEqual({ done: true, value: undefined })
    }
  })

  it.each([
    ['/rooms/#', { partitions: [0] }, 'INVALID_ARGUMENT'],
    ['/rooms/#', { maxStreams: 0 }, 'INVALID_ARGUMENT'],
    ['/rooms/#', { signal: AbortSignal.abort() }, 'ABORTED'],
    ['/rooms', { maxStreams: 1 }, 'INVALID_ARGUMENT'],
    ['/rooms#', {}, 'INVALID_STREAM_ID'],
    ['/#/rooms/#', {}, 'INVALID_STREAM_ID'],
  ] as const)('is refused: %s %j', async (id, options, code) => {
    await expect(reader.subscribe(id, options)).rejects.toMatchObject({ code })
  })
})
