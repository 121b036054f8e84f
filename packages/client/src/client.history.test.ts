import {
  addressOf,
  buildBatch,
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  toStreamPartId,
  toStreamId,
  type BuiltBatch,
  type MessageRef,
  type StreamId,
} from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startStorage } from './client.storage.testkit.ts'
import { Clients, newAccount, nextStatus, startTracker, take } from './client.testkit.ts'
import type { Message, MessageGap, StaticNetwork } from './index.ts'
import { collect, type FakeStorage } from './resend/storage.testkit.ts'

const crypto = await loadCrypto()
const owner = newAccount()
/** One for each test: neighbours replay what they had lately to who comes. */
const streamIds = Array.from({ length: 11 }, (_, i) => toStreamId(`${owner.nodeId}/history/${i}`))
let streamId = streamIds[0] as StreamId
const unstored = toStreamId(`${owner.nodeId}/history/unstored`)
const partitions = 2

let tracker: Tracker
let storage: FakeStorage
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  storage = await startStorage(
    tracker,
    streamIds.flatMap((id) => [toStreamPartId(id, 0), toStreamPartId(id, 1)]),
  )
  const { nodeId, contact } = storage.node
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [...streamIds, unstored].map((id) => ({
      id,
      partitions,
      storageNodes: id === unstored ? [] : [{ nodeId, url: addressOf(contact, 'websocket') ?? '' }],
      permissions: [
        { user: owner.nodeId, publish: true, subscribe: true },
        { user: 'public', subscribe: true },
      ],
    })),
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
beforeEach(({ task }) => {
  streamId = streamIds[task.suite?.tasks.indexOf(task) ?? 0] as StreamId
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await storage.node.stop()
  await tracker.stop()
})

/** Batches of one message each, one after the other. */
function handMade(count: number): [BuiltBatch, BuiltBatch, BuiltBatch, ...BuiltBatch[]] {
  const identity = createIdentity(parsePrivateKey(owner.privateKey), crypto)
  const startMs = Date.now()
  const chain = { streamId, partition: 0, publisherId: identity.nodeId, messageChainId: 'made by hand' }
  const [first, second, third, ...rest] = numbers(1, count).map((n) => {
    const message = {
      timestamp: startMs + n,
      sequenceNumber: 0,
      previous: n === 1 ? undefined : { timestamp: startMs + n - 1, sequenceNumber: 0 },
      contentType: 2,
      encryptionType: 0,
      groupKeyId: '',
      content: new TextEncoder().encode(String(n)),
    }
    return buildBatch({ chain, messages: [message] }, crypto, identity)
  })
  if (!first || !second || !third) throw new Error('At least three')
  return [first, second, third, ...rest]
}

const contents = (messages: readonly Message[]) => messages.map(({ content }) => content)
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

describe('history, over real links', () => {
  it('is read back once it is stored', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const reader = await clients.create()
    const sent = await Promise.all(numbers(1, 300).map((n) => publisher.publish(streamId, n)))
    await reader.waitForStorage(sent)
    expect(contents(await collect(reader.resend(streamId, { last: 20 })))).toEqual(numbers(281, 300))
    const [, second] = sent
    if (second === undefined) throw new Error('Nothing was published')
    expect(contents(await collect(reader.resend(streamId, { from: second })))).toEqual(numbers(2, 300))
    expect(contents(await collect(reader.playback(streamId, { last: 5 }, { speed: Infinity })))).toEqual(
      numbers(296, 300),
    )
  })

  it('can be had over WebRTC, from a storage node that only the tracker knows how to reach', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    await publisher.waitForStorage(await publisher.publish(streamId, 'kept'))
    const reader = await clients.create({ transports: { websocket: {}, webrtc: {} } })
    expect(contents(await collect(reader.resend(streamId, { last: 1 })))).toEqual(['kept'])
  })

  it.each(['chain', 'arrival'] as const)(
    'flows into live without a gap or anything twice, order %s',
    async (order) => {
      const publisher = await clients.create({ privateKey: owner.privateKey })
      const first = await publisher.publish(streamId, 1, { partition: 0 })
      await publisher.waitForStorage(first)
      let published = 1
      let isOver = false
      const publishing = (async () => {
        while (!isOver) {
          await publisher.publish(streamId, ++published, { partition: 0 })
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      const readers = await Promise.all(
        numbers(1, 3).map(async (i) => {
          const reader = await clients.create()
          const subscription = await reader.subscribe(streamId, {
            order,
            partitions: [0],
            resend: i === 1 ? { from: first } : { last: 1_000_000 },
          })
          await subscription.caughtUp()
          return { reader, subscription }
        }),
      )
      isOver = true
      await publishing
      for (const { subscription } of readers) {
        expect(contents(await take(subscription, published))).toEqual(numbers(1, published))
        expect(subscription.counters()).toMatchObject({ gaps: 0, dropped: 0, delivered: published })
      }
    },
  )

  it('begins with the last few, of all partitions, and goes on', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const sent = []
    for (const n of numbers(1, 20)) sent.push(await publisher.publish(streamId, n, { partition: n % 2 }))
    await publisher.waitForStorage(sent)
    const reader = await clients.create()
    const subscription = await reader.subscribe(streamId, { resend: { last: 4 } })
    expect(contents(await take(subscription, 4))).toHaveLength(4)
    await subscription.caughtUp()
    await publisher.publish(streamId, 'live', { partition: 1 })
    expect(contents(await take(subscription, 1))).toEqual(['live'])
  })

  it('that cannot be read is said, and live messages come all the same', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const reader = await clients.create()
    storage.script = ({ requestId }, reply) => {
      reply({ type: 'resendEnd', requestId, code: 'STORE_FAILED', text: '' })
    }
    const failed = nextStatus(reader, 'history-failed')
    const told: Error[] = []
    const onHistoryFailed = (error: Error) => told.push(error)
    const subscription = await reader.subscribe(streamId, { resend: { last: 4 }, onHistoryFailed })
    await expect(subscription.caughtUp()).rejects.toMatchObject({ code: 'RESEND_FAILED' })
    expect(told).toMatchObject([{ code: 'RESEND_FAILED' }])
    expect(await failed).toMatchObject({ streamId, error: { code: 'RESEND_FAILED' } })
    storage.script = undefined
    await publisher.publish(streamId, 'live')
    expect(contents(await take(subscription, 1))).toEqual(['live'])
  })

  it('does not run ahead of a slow application', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const sent = await Promise.all(
      numbers(1, 500).map((n) => publisher.publish(streamId, n, { partition: 0 })),
    )
    await publisher.waitForStorage(sent)
    const reader = await clients.create()
    const subscription = await reader.subscribe(streamId, { resend: { last: 500 }, maxQueuedMessages: 20 })
    expect(contents(await take(subscription, 500))).toEqual(numbers(1, 500))
    expect(subscription.counters()).toMatchObject({ dropped: 0, delivered: 500 })
  })

  it('fills what no neighbour has, in order', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const reader = await clients.create()
    const subscription = await reader.subscribe(streamId, { partitions: [0] })
    const others = await publisher.subscribe(streamId, { partitions: [0], fillGaps: false })
    await Promise.all([subscription, others].map((it) => it.waitForNeighbours()))
    const [first, second, third] = handMade(3)
    storage.add(second)
    publisher.network.publish(first)
    publisher.network.publish(third)
    expect(contents(await take(subscription, 3))).toEqual(['1', '2', '3'])
    expect(reader.counters()).toMatchObject({ archiveFills: 1, archiveFilled: 1 })
    expect(subscription.counters()).toMatchObject({ gaps: 0, late: 0 })
  })

  it('lacks what nobody has: that is said with its exact range, and delivery goes on', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const reader = await clients.create()
    const gaps: MessageGap[] = []
    const onGap = (gap: MessageGap) => gaps.push(gap)
    const subscriptions = await Promise.all(
      (['chain', 'arrival'] as const).map((order) =>
        reader.subscribe(streamId, { partitions: [0], order, onGap }),
      ),
    )
    const said = nextStatus(reader, 'gap')
    await publisher.subscribe(streamId, { partitions: [0] })
    await Promise.all(subscriptions.map((it) => it.waitForNeighbours()))
    const batches = handMade(5)
    for (const i of [0, 3, 4]) publisher.network.publish(batches[i] as BuiltBatch)
    for (const subscription of subscriptions) {
      expect(contents(await take(subscription, 3))).toEqual(['1', '4', '5'])
    }
    const [first, , third] = batches.map(({ messages }) => messages[0])
    if (first === undefined || third === undefined) throw new Error('No messages')
    const place = ({ timestamp, sequenceNumber }: MessageRef) => ({ timestamp, sequenceNumber })
    const gap = {
      streamPartId: `${streamId}#0`,
      publisherId: owner.nodeId,
      messageChainId: 'made by hand',
      after: place(first),
      upTo: place(third),
    }
    expect(await said).toEqual({ type: 'gap', ...gap })
    expect(gaps).toEqual([gap, gap])
    expect(subscriptions.map((it) => it.counters().gaps)).toEqual([1, 1])
  })

  it('is refused before anything is joined when the selection is wrong or nobody keeps the stream', async () => {
    const reader = await clients.create()
    await expect(reader.subscribe(streamId, { resend: { last: 0 } })).rejects.toMatchObject({
      code: 'INVALID_RESEND',
    })
    await expect(reader.subscribe(streamId, { order: 'chaos' as 'chain' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(reader.network.streamParts).toEqual([])
    expect(await reader.getStorageNodes(streamId)).toMatchObject([{ nodeId: storage.node.nodeId }])
    expect(await reader.listStorageNodes()).toHaveLength(1)
    expect(await reader.streamsStoredBy(storage.node.nodeId)).toEqual(streamIds.toSorted())
    await expect(reader.addToStorageNode(streamId, owner.nodeId)).rejects.toMatchObject({
      code: 'REGISTRY_READ_ONLY',
    })
  })

  it('comes first where a stream is stored, and is no condition where it is not, if so wanted', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const reader = await clients.create()
    const how = { resend: { last: 2 }, resendWhereStored: true } as const
    await expect(reader.subscribe(unstored, { resend: { last: 2 } })).rejects.toMatchObject({
      code: 'NO_STORAGE_NODE',
    })
    const live = await reader.subscribe(unstored, how)
    await publisher.publish(unstored, 'live')
    expect(contents(await take(live, 1))).toEqual(['live'])
    const sent = await Promise.all(numbers(1, 3).map((n) => publisher.publish(streamId, n)))
    await publisher.waitForStorage(sent)
    const both = await reader.subscribe(streamId, how)
    expect(contents(await take(both, 2))).toEqual([2, 3])
  })
})
