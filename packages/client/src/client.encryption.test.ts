import { toStreamId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, newAccount, startTracker, take } from './client.testkit.ts'

const owner = newAccount()
const reader = newAccount()
const other = newAccount()
const streams = {
  secret: toStreamId(`${owner.nodeId}/secret`),
  open: toStreamId(`${owner.nodeId}/open`),
}

let tracker: Tracker
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  const members = [owner, reader].map(({ nodeId }) => ({ user: nodeId, publish: true, subscribe: true }))
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      { id: streams.secret, permissions: members },
      { id: streams.open, permissions: [...members, { user: 'public', subscribe: true }] },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

describe('a stream that not everybody may read', () => {
  it('is encrypted, and its readers get the key from whoever is there', async () => {
    const subscriber = await clients.create({ privateKey: reader.privateKey })
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const raw: number[] = []
    subscriber.network.on('message', ({ message }) => {
      if (message.partition !== 0) return
      raw.push(message.encryptionType)
      expect(Buffer.from(message.content).includes('from a trace')).toBe(false)
    })
    const subscription = await subscriber.subscribe(streams.secret)
    const taken = take(subscription, 3)
    for (const n of [1, 2, 3])
      await publisher.publish(streams.secret, { n }, { headers: { trace: `from a trace ${n}` } })
    expect((await taken).map(({ content, headers }) => [content, headers.trace])).toEqual(
      [1, 2, 3].map((n) => [{ n }, `from a trace ${n}`]),
    )
    expect(raw).toEqual([2, 2, 2])
  })

  it('that everybody may read is in the clear', async () => {
    const subscriber = await clients.create({ privateKey: other.privateKey })
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const types: number[] = []
    subscriber.network.on('message', ({ message }) => types.push(message.encryptionType))
    const subscription = await subscriber.subscribe(streams.open)
    const taken = take(subscription, 1)
    await publisher.publish(streams.open, 'for all')
    expect((await taken)[0]?.content).toBe('for all')
    expect(types).toEqual([0])
  })

  it('can be read after its publisher ended at once, where nobody stores its keys', async () => {
    const subscriber = await clients.create({ privateKey: reader.privateKey })
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const subscription = await subscriber.subscribe(streams.secret)
    const taken = take(subscription, 1)
    await publisher.publish(streams.secret, 'and gone')
    await publisher.close()
    expect((await taken)[0]?.content).toBe('and gone')
  })
})
