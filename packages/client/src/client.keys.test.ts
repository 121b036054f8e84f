import { partitionOfKey } from './index.ts'
import { keyTagIn, loadCrypto, toStreamId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, newAccount, startTracker, take } from './client.testkit.ts'

const owner = newAccount()
const streams = {
  open: toStreamId(`${owner.nodeId}/open`),
  secret: toStreamId(`${owner.nodeId}/secret`),
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
      { id: streams.secret, permissions },
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
