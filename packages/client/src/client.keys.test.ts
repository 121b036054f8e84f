import { partitionOfKey } from './index.ts'
import { keyTagIn, loadCrypto, toStreamId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, newAccount, startTracker, take } from './client.testkit.ts'

const owner = newAccount()
const streams = {
  open: toStreamId(`${owner.nodeId}/open`),
  secret: toStreamId(`${owner.nodeId}/secret`),
  values: toStreamId(`${owner.nodeId}/values`),
}
const partitions = 10

let tracker: Tracker
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  const permissions = [{ user: owner.nodeId, publish: true, subscribe: true }]
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      { id: streams.open, partitions, permissions: [...permissions, { user: 'public', subscribe: true }] },
      { id: streams.secret, permissions, metadata: JSON.stringify({ lastValues: true }) },
      {
        id: streams.values,
        partitions: 2,
        permissions: [...permissions, { user: 'public', subscribe: true }],
        metadata: JSON.stringify({ lastValues: true }),
      },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

describe('publish with a key', () => {
  it('gives it to readers, and chooses the partition', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const reader = await clients.create()
    const subscription = await reader.subscribe(streams.open)
    const taken = take(subscription, 3)
    await publisher.publish(streams.open, 21.5, { key: 'kitchen' })
    await publisher.publish(streams.open, 8, { key: 'cellar', partition: 3 })
    await publisher.remove(streams.open, 'kitchen')
    const messages = (await taken).sort((a, b) => a.timestamp - b.timestamp)
    const usual = partitionOfKey('kitchen', partitions, await loadCrypto())
    expect(messages.filter(({ key }) => key === 'kitchen')).toMatchObject([
      { content: 21.5, partition: usual, isRemoval: false },
      { content: null, partition: usual, isRemoval: true },
    ])
    expect(messages.filter(({ key }) => key === 'cellar')).toMatchObject([{ content: 8, partition: 3 }])
  })

  it('seals it with the content where the stream is encrypted, and shows its tag', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const reader = await clients.create({ privateKey: owner.privateKey })
    const seen: (Uint8Array | undefined)[] = []
    reader.network.on('message', ({ message }) => {
      if (message.partition !== 0) return
      expect(Buffer.from(message.content).includes('kitchen')).toBe(false)
      seen.push(keyTagIn(message))
    })
    const subscription = await reader.subscribe(streams.secret)
    const taken = take(subscription, 2)
    await publisher.publishMany(streams.secret, [{ room: 'kitchen' }, { room: 'cellar' }], {
      key: ({ room }) => room,
    })
    expect((await taken).map(({ key }) => key)).toEqual(['kitchen', 'cellar'])
    expect(seen.map((tag) => tag?.length)).toEqual([16, 16])
  })

  it('refuses what can be none', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const refused = { code: 'INVALID_MESSAGE_KEY' }
    await expect(publisher.publish(streams.open, 1, { key: '' })).rejects.toMatchObject(refused)
    await expect(publisher.remove(streams.open, 'x'.repeat(257))).rejects.toMatchObject(refused)
    await expect(publisher.remove(streams.open, undefined as unknown as string)).rejects.toMatchObject(
      refused,
    )
  })
})

describe('last', () => {
  it('gives the newest message of a key, or of all, as neighbours tell it', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const member = await clients.create()
    const subscription = await member.subscribe(streams.values)
    const taken = take(subscription, 4)
    for (const [key, value] of [
      ['kitchen', 20],
      ['cellar', 8],
      ['kitchen', 21],
    ] as const)
      // prettier-ignore
      await publisher.publish(streams.values, value, { key, headers: { unit: 'C' } })
    await publisher.publish(streams.values, 'no key', { partition: 1 })
    await taken
    const late = await clients.create()
    const kitchen = await late.last<number>(streams.values, { key: 'kitchen' })
    expect(kitchen).toMatchObject({ key: 'kitchen', content: 21, headers: { unit: 'C' } })
    expect((await late.last(streams.values, { key: 'cellar' }))?.content).toBe(8)
    expect((await late.last(streams.values))?.content).toBe('no key')
    expect(await late.last(streams.values, { key: 'attic' })).toBeUndefined()
    const elsewhere = { key: 'kitchen', partition: 1 - (kitchen?.partition ?? 0) }
    expect(await late.last(streams.values, elsewhere)).toBeUndefined()
    await publisher.remove(streams.values, 'kitchen')
    await take(subscription, 1)
    expect(await member.last(streams.values, { key: 'kitchen' })).toBeUndefined()
    // Its own node knows, and asks nobody.
    expect((await member.last(streams.values, { key: 'cellar' }))?.content).toBe(8)
  })

  it('opens what is encrypted', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const member = await clients.create({ privateKey: owner.privateKey })
    const subscription = await member.subscribe(streams.secret)
    await publisher.publish(streams.secret, 'hidden', { key: 'safe' })
    await take(subscription, 1)
    const late = await clients.create({ privateKey: owner.privateKey })
    expect(await late.last(streams.secret, { key: 'safe' })).toMatchObject({ key: 'safe', content: 'hidden' })
  })

  it('is undefined where nobody is, and refuses what it cannot ask for', async () => {
    const client = await clients.create()
    expect(await client.last(streams.values, { key: 'kitchen' })).toBeUndefined()
    const refusals = [
      [client.last(streams.secret), 'NO_SUBSCRIBE_PERMISSION'],
      [client.last(streams.values, { partition: 2 }), 'PARTITION_OUT_OF_RANGE'],
      [client.last(streams.values, { key: '' }), 'INVALID_MESSAGE_KEY'],
      [client.last(streams.values, { signal: AbortSignal.abort() }), 'ABORTED'],
      [client.last(streams.values, { kay: 'x' } as object), 'INVALID_ARGUMENT'],
    ] as const
    for (const [refusal, code] of refusals) await expect(refusal).rejects.toMatchObject({ code })
  })
})
