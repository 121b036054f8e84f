import {
  addressOf,
  buildBatch,
  ContentType,
  createIdentity,
  keyPartition,
  loadCrypto,
  parsePrivateKey,
  toStreamId,
  toStreamPartId,
  type Clock,
  type Resend,
  type StreamId,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startStorage } from './client.storage.testkit.ts'
import { Clients, newAccount, nextStatus, startTracker, take } from './client.testkit.ts'
import type { DurableReader, ReaderMessage, RunnelClient, StaticNetwork } from './index.ts'
import type { FakeStorage } from './resend/storage.testkit.ts'

const crypto = await loadCrypto()
const [owner, user] = [newAccount(), newAccount()]
/** One for each test: neighbours replay what they had lately to who comes. */
const streamIds = Array.from({ length: 16 }, (_, i) => toStreamId(`${owner.nodeId}/read/${i}`))
const bare = toStreamId(`${owner.nodeId}/kept/nowhere`)
const unused = [...streamIds]
let streamId: StreamId

let tracker: Tracker
let storage: FakeStorage
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  const parts = streamIds.flatMap((id) => [0, 1, keyPartition].map((part) => toStreamPartId(id, part)))
  storage = await startStorage(tracker, parts)
  const { nodeId, contact } = storage.node
  const storageNodes = [{ nodeId, url: addressOf(contact, 'websocket') ?? '' }]
  const permissions = [
    { user: owner.nodeId, publish: true, subscribe: true },
    { user: 'public', subscribe: true },
  ]
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      ...streamIds.map((id) => ({ id, partitions: 2, storageNodes, permissions })),
      { id: bare, permissions },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
beforeEach(() => {
  streamId = unused.shift() ?? expect.fail('more streams')
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await storage.node.stop()
  await tracker.stop()
})

const publisher = () => clients.create({ privateKey: owner.privateKey })
const start = () => clients.create({ privateKey: user.privateKey })
/** Publishes numbers, and resolves when they are stored. */
async function publish(client: RunnelClient, from: number, to: number): Promise<void> {
  const sent = []
  for (let i = from; i < to; i++) sent.push(await client.publish(streamId, i, { partition: i % 2 }))
  await client.waitForStorage(sent)
}
const numbers = (messages: readonly ReaderMessage[]) => messages.map(({ content }) => content as number)
const sorted = (messages: readonly ReaderMessage[]) => numbers(messages).sort((a, b) => a - b)
const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i)

describe('a durable reader', () => {
  it('goes on after the last acknowledged message, in another process, from storage alone', async () => {
    const alice = await publisher()
    await publish(alice, 0, 20)
    const first = await start()
    const reader = await first.reader(streamId, { name: 'billing' })
    const taken = await take(reader, 20)
    expect(sorted(taken)).toEqual(upTo(20))
    // What is acknowledged between others counts, too.
    for (const message of taken) if (message.content !== 7 && message.content !== 15) message.ack()
    await reader.flush()
    await first.network.stop()
    await publish(alice, 20, 30)
    const again = await (await start()).reader(streamId, { name: 'billing' })
    expect(sorted(await take(again, 12))).toEqual([7, 15, ...upTo(10, 20)])
    await alice.publish(streamId, 30)
    expect(numbers(await take(again, 1))).toEqual([30])
  })

  it('has what was acknowledged stored before its client is closed', async () => {
    await publish(await publisher(), 0, 1)
    const client = await start()
    const [message] = await take(await client.reader(streamId, { name: 'closing' }), 1)
    const { stored } = storage
    onTestFinished(() => void (storage.stored = stored))
    const answers: string[] = []
    storage.stored = (place) => {
      const answer = stored(place)
      answers.push(answer)
      return answer
    }
    message?.ack()
    await client.close()
    expect(answers.at(-1)).toBe('')
  })

  it('gives a message again that is not acknowledged in time, or refused, and gives up', async () => {
    const alice = await publisher()
    await publish(alice, 0, 1)
    const client = await start()
    const lost: unknown[] = []
    const reader = await client.reader(streamId, {
      ...{ name: 'slow', ackWaitMs: 20, maxDeliveries: 3 },
      onGivenUp: ({ content }) => lost.push(content),
    })
    const redelivered = nextStatus(client, 'reader', ({ state }) => state === 'redelivered')
    const givenUp = nextStatus(client, 'reader', ({ state }) => state === 'given-up')
    const [first, second, third] = await take(reader, 3)
    expect([first, second, third].map((message) => message?.deliveries)).toEqual([1, 2, 3])
    expect(await redelivered).toMatchObject({ name: 'slow', message: { content: 0 } })
    expect(await givenUp).toMatchObject({ message: { content: 0 } })
    expect(lost).toEqual([0])
    expect(reader.counters()).toMatchObject({ delivered: 1, redelivered: 2, givenUp: 1, inFlight: 0 })
    await publish(alice, 1, 2)
    const [message] = await take(reader, 1)
    message?.nack()
    expect((await take(reader, 1))[0]).toMatchObject({ content: 1, deliveries: 2 })
  })
  it('acknowledges by itself what a loop got to the end of, and nothing of what it was left at', async () => {
    const alice = await publisher()
    await publish(alice, 0, 6)
    const client = await start()
    const done: unknown[] = []
    const failing = async () => {
      for await (const { content } of await client.reader(streamId, { name: 'loop', autoAck: true })) {
        if (done.length === 4) throw new Error('full')
        done.push(content)
      }
    }
    await expect(failing()).rejects.toThrow('full')
    const again = await client.reader(streamId, { name: 'loop', autoAck: true })
    expect([...done, ...numbers(await take(again, 2))].sort()).toEqual(upTo(6))
  })

  it('misses nothing when the application is slower than the stream', async () => {
    const alice = await publisher()
    const slow = await clients.create({ privateKey: user.privateKey, subscribe: { maxQueuedMessages: 10 } })
    const reader = await slow.reader(streamId, { name: 'slow', maxInFlight: 5, start: 'new' })
    await publish(alice, 0, 1)
    const seen = new Set(numbers(await take(reader, 1)))
    // Few of these find room while nothing is acknowledged.
    const dropped = nextStatus(slow, 'slow-consumer')
    await publish(alice, 1, 300)
    expect((await dropped).dropped).toBeGreaterThan(0)
    for await (const message of reader) {
      seen.add(message.content as number)
      message.ack()
      if (seen.size === 300) break
    }
    expect(seen).toEqual(new Set(upTo(300)))
  })

  it('finds a message that storage nodes got late, when it looks again at what should be complete', async () => {
    const alice = await publisher()
    await publish(alice, 0, 2)
    const client = await start()
    const reader = await client.reader(streamId, { name: 'late', maxLateMs: 1_000 })
    for (const message of await take(reader, 2)) message.ack()
    // It is live, and has looked once: what is stored from now on it hears of only when it looks again.
    const isSweep = ({ selection: it }: Resend) =>
      it.kind === 'range' && it.from.timestamp > 0 && it.to.timestamp < 2 ** 48 - 1
    while (!storage.asked.some((asked) => asked.streamPartId.startsWith(streamId) && isSweep(asked)))
      await new Promise(setImmediate)
    storage.add(lateBatch(streamId, Date.now()))
    expect((await take(reader, 1))[0]).toMatchObject({ content: 'late', messageChainId: 'late' })
  })

  it('goes where it is put while it runs, and is shown', async () => {
    const alice = await publisher()
    await publish(alice, 0, 4)
    const [client, other] = [await start(), await start()]
    expect(await other.readerState(streamId, 'moved')).toBeUndefined()
    const reader = await client.reader(streamId, { name: 'moved' })
    for (const message of await take(reader, 4)) message.ack()
    await reader.flush()
    expect(await other.readerState(streamId, 'moved')).toMatchObject({ name: 'moved', chains: 2 })
    const reset = nextStatus(client, 'reader', ({ state }) => state === 'reset')
    await other.resetReader(streamId, 'moved', 'first')
    await reset
    expect(sorted(await take(reader, 4))).toEqual(upTo(4))
    expect(reader.lag().doneBeforeMs).toBe(0)
    expect(reader.lag().oldestMs).toBeGreaterThan(0)
  })

  it('is told how far it is behind what is stored', async () => {
    const alice = await publisher()
    await publish(alice, 0, 4)
    const [client, other] = [await start(), await start()]
    expect(await other.readerBacklog(streamId, 'behind')).toBeUndefined()
    const reader = await client.reader(streamId, { name: 'behind' })
    const taken = await take(reader, 4)
    taken[0]?.ack()
    await reader.flush()
    const backlog = await other.readerBacklog(streamId, 'behind')
    expect(backlog).toEqual({ messages: 3, hasMore: false, oldestMs: expect.any(Number) as number })
    expect(backlog?.oldestMs).toBeGreaterThan(0)
    for (const message of taken.slice(1)) message.ack()
    await reader.flush()
    expect(await other.readerBacklog(streamId, 'behind')).toEqual({
      messages: 0,
      hasMore: false,
      oldestMs: 0,
    })
    const signal = AbortSignal.abort()
    await expect(other.readerBacklog(streamId, 'behind', { signal })).rejects.toMatchObject({
      code: 'ABORTED',
    })
  })

  it('begins with what is new, or at a time, where it has no cursor yet', async () => {
    const alice = await publisher()
    await publish(alice, 0, 3)
    const client = await start()
    const fresh = await client.reader(streamId, { name: 'new', start: 'new' })
    const dated = await client.reader(streamId, { name: 'dated', start: { from: new Date(0) } })
    expect(sorted(await take(dated, 3))).toEqual(upTo(3))
    await publish(alice, 3, 4)
    expect(numbers(await take(fresh, 1))).toEqual([3])
  })

  it('begins with what is new although its clock is ahead', async () => {
    const alice = await publisher()
    await publish(alice, 0, 3)
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + 120_000 }
    const ahead = await clients.create({ privateKey: user.privateKey }, { clock })
    const reader = await ahead.reader(streamId, { name: 'ahead', start: 'new' })
    await publish(alice, 3, 4)
    expect(numbers(await take(reader, 1))).toEqual([3])
  })

  it('says what is wrong with its options, and that nobody keeps the stream', async () => {
    const client = await start()
    const wrong = [
      { name: '' },
      { name: 'x'.repeat(129) },
      { name: 'a', maxInFlight: 0 },
      { name: 'a', ackWaitMs: 1.5 },
    ]
    for (const options of [
      ...wrong,
      { name: 'a', spread: 'some' },
      { name: 'a', start: 'last' },
      { name: 'a', no: 1 },
    ])
      await expect(client.reader(streamId, options as never)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
    await expect(client.reader(bare, { name: 'a' })).rejects.toMatchObject({ code: 'NO_STORAGE_NODE' })
    const ended = new AbortController()
    ended.abort()
    await expect(client.reader(streamId, { name: 'a', signal: ended.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    })
  })

  it('ends with its signal, and stores what was acknowledged', async () => {
    const alice = await publisher()
    await publish(alice, 0, 2)
    const client = await start()
    const ending = new AbortController()
    const reader = await client.reader(streamId, { name: 'ended', signal: ending.signal })
    const [first] = await take(reader, 2)
    first?.ack()
    ending.abort()
    expect(await reader[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined })
    await reader.close()
    await expect(reader.flush()).resolves.toBeUndefined()
    const again = await client.reader(streamId, { name: 'ended' })
    expect(numbers(await take(again, 1))).not.toEqual([first?.content])
  })

  it('ends with its signal only when the loop is done with its message, whose acknowledgement counts', async () => {
    await publish(await publisher(), 0, 2)
    const client = await start()
    const ending = new AbortController()
    const reader = await client.reader(streamId, { name: 'at-work', signal: ending.signal })
    const done: unknown[] = []
    for await (const message of reader) {
      ending.abort()
      done.push(message.content)
      message.ack()
    }
    const again = await client.reader(streamId, { name: 'at-work' })
    expect(done).toHaveLength(1)
    expect(numbers(await take(again, 1))).not.toEqual(done)
  })

  it('tells that the cursor cannot be stored, and stores it when it can be', async () => {
    const alice = await publisher()
    await publish(alice, 0, 1)
    const client = await start()
    const reader = await client.reader(streamId, { name: 'unstored' })
    const { stored } = storage
    storage.stored = () => 'NOT_ACCEPTED'
    const failed = nextStatus(client, 'reader', ({ state }) => state === 'failed')
    for (const message of await take(reader, 1)) message.ack()
    await expect(reader.flush()).rejects.toMatchObject({ code: 'NOT_STORED_IN_TIME' })
    expect(await failed).toMatchObject({ error: { code: 'NOT_STORED_IN_TIME' } })
    storage.stored = stored
    await reader.flush()
  })
})

describe('the work of a reader that several processes share', () => {
  it('is each message for one of them, and goes to the others when one is gone', async () => {
    const alice = await publisher()
    const members = [await start(), await start(), await start()]
    const readers: DurableReader<number>[] = []
    for (const client of members)
      readers.push(await client.reader<number>(streamId, { name: 'workers', group: true, spread: 'message' }))
    await Promise.all(readers.map((reader) => untilMembers(reader, 3)))
    await publish(alice, 0, 60)
    const taken = new Map<number, number>()
    const kept: ReaderMessage<number>[] = []
    const work = readers.map(async (reader, index) => {
      for await (const message of reader) {
        taken.set(message.content, (taken.get(message.content) ?? 0) + 1)
        // The last one never gets to the end of anything.
        if (index < 2) message.ack()
        else kept.push(message)
        wake()
      }
    })
    let wake = () => {}
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await new Promise<void>((resolve) => (wake = resolve))
    }
    await until(() => taken.size === 60)
    expect([...taken.values()].every((count) => count === 1)).toBe(true)
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThan(60)
    const lost = kept.map(({ content }) => content)
    await members[2]?.network.stop()
    await until(() => lost.every((content) => taken.get(content) === 2))
    expect(
      [...taken]
        .filter(([, count]) => count > 1)
        .map(([content]) => content)
        .sort(),
    ).toEqual(lost.sort())
    await Promise.all(members.map((client) => client.close()))
    await Promise.all(work)
    const last = await start()
    expect((await last.readerState(streamId, 'workers'))?.name).toBe('workers')
    await publish(alice, 60, 61)
    const rest = await last.reader(streamId, { name: 'workers' })
    expect(numbers(await take(rest, 1))).toEqual([60])
  })
})

/** Signed by the owner; nobody floods it. */
function lateBatch(id: StreamId, timestamp: number) {
  const chain = { streamId: id, partition: 0, publisherId: owner.nodeId, messageChainId: 'late' }
  const content = new TextEncoder().encode('"late"')
  const place = { timestamp, sequenceNumber: 0, previous: undefined }
  const message = { ...place, contentType: ContentType.json, encryptionType: 0, groupKeyId: '', content }
  return buildBatch(
    { chain, messages: [message] },
    crypto,
    createIdentity(parsePrivateKey(owner.privateKey), crypto),
  )
}

/** Resolves when a reader knows of so many members. */
async function untilMembers(reader: DurableReader<number>, count: number): Promise<void> {
  while (reader.members.length !== count) await new Promise(setImmediate)
}
