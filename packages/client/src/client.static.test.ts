import { inspect } from 'node:util'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  addressOf,
  buildBatch,
  ContentType,
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  toStreamId,
  type BuiltBatch,
  type StreamPartId,
  type RunnelError,
} from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Clients, newAccount, nextStatus, startTracker, take } from './client.testkit.ts'
import { createClient, partitionOfKey, type ClientStatus, type StaticNetwork } from './index.ts'

const owner = newAccount()
const reader = newAccount()
const id = (path: string) => `${owner.nodeId}/${path}`
const everything = { publish: true, subscribe: true } as const

let tracker: Tracker
let document: StaticNetwork
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  document = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      {
        id: id('one'),
        permissions: [
          { user: owner.nodeId, ...everything },
          { user: 'public', subscribe: true },
        ],
      },
      { id: id('many'), partitions: 5, permissions: [{ user: 'public', ...everything }] },
      { id: id('private'), permissions: [{ user: owner.nodeId, ...everything }] },
      {
        id: id('ended'),
        permissions: [{ user: 'public', publish: 1000, subscribe: '1999-01-01T00:00:00Z' }],
      },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

/** A batch no client would make, signed as it should be. */
async function handMadeBatch(privateKey: string, contentType: number, text: string): Promise<BuiltBatch> {
  const crypto = await loadCrypto()
  const identity = createIdentity(parsePrivateKey(privateKey), crypto)
  const message = {
    timestamp: Date.now(),
    sequenceNumber: 0,
    previous: undefined,
    contentType,
    encryptionType: 0,
    groupKeyId: '',
    content: new TextEncoder().encode(text),
  }
  const chain = {
    streamId: toStreamId(id('one')),
    partition: 0,
    publisherId: identity.nodeId,
    messageChainId: 'made by hand',
  }
  return buildBatch({ chain, messages: [message] }, crypto, identity)
}

describe('publish and subscribe', () => {
  it('carry values, text and bytes, in order', async () => {
    const [publisher, subscriber] = await Promise.all([
      clients.create({ privateKey: owner.privateKey }),
      clients.create({ privateKey: reader.privateKey }),
    ])
    const subscription = await subscriber.subscribe(id('one'))
    const sent = await Promise.all([
      publisher.publish(id('one'), { celsius: 21.5 }),
      publisher.publish(id('one'), 'warm'),
      publisher.publish(id('one'), Uint8Array.of(1, 2, 3)),
    ])
    const messages = await take(subscription, 3)
    expect(messages.map(({ content, contentType }) => [contentType, content])).toEqual([
      ['json', { celsius: 21.5 }],
      ['text', 'warm'],
      ['binary', Uint8Array.of(1, 2, 3)],
    ])
    expect(messages.map(({ timestamp, sequenceNumber }) => ({ timestamp, sequenceNumber }))).toEqual(
      sent.map(({ timestamp, sequenceNumber }) => ({ timestamp, sequenceNumber })),
    )
    expect(messages[1]?.previous).toEqual({
      timestamp: messages[0]?.timestamp,
      sequenceNumber: messages[0]?.sequenceNumber,
    })
    expect(messages[0]).toMatchObject({ publisherId: owner.nodeId, streamId: id('one'), partition: 0 })
    expect(sent[0]).toMatchObject({ neighbours: 1, publisherId: owner.nodeId })
    expect(subscription.counters()).toMatchObject({ received: 3, delivered: 3, dropped: 0, undecodable: 0 })
  })

  it('work over WebRTC', async () => {
    const transports = { websocket: {}, webrtc: {} } as const
    const [publisher, subscriber] = await Promise.all([
      clients.create({ privateKey: owner.privateKey, transports }),
      clients.create({ transports }),
    ])
    const subscription = await subscriber.subscribe(id('one'))
    await publisher.publish(id('one'), 'over a data channel')
    expect((await take(subscription, 1))[0]?.content).toBe('over a data channel')
    const [part] = subscriber.network.metrics().streamParts
    expect(part?.neighbours.map(({ transport }) => transport)).toEqual(['webrtc'])
  })

  it('chain a thousand unawaited messages in the order of the calls, each delivered once', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const subscriber = await clients.create()
    const subscription = await subscriber.subscribe(id('one'))
    await Promise.all(Array.from({ length: 1000 }, (_, i) => publisher.publish(id('one'), i)))
    const messages = await take(subscription, 1000)
    expect(messages.map(({ content }) => content)).toEqual(Array.from({ length: 1000 }, (_, i) => i))
    expect(new Set(messages.map(({ messageChainId }) => messageChainId)).size).toBe(1)
  })

  it('take messages of one turn whose times are far apart', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const subscriber = await clients.create()
    const subscription = await subscriber.subscribe(id('one'))
    const startMs = Date.now() - 150_000
    const times = [0, 10, 100_000, 100_010].map((ms) => startMs + ms)
    await Promise.all(times.map((timestamp) => publisher.publish(id('one'), 'x', { timestamp })))
    expect((await take(subscription, 4)).map(({ timestamp }) => timestamp)).toEqual(times)
  })

  it('deliver to a callback, and to every subscription, the own ones too', async () => {
    const client = await clients.create({ privateKey: owner.privateKey })
    const other = await clients.create()
    const heard = Promise.withResolvers<unknown>()
    await client.subscribe(id('one'), {}, ({ content }) => heard.resolve(content))
    const own = await client.subscribe(id('one'), { raw: true })
    const theirs = await other.subscribe(id('one'))
    await client.publish(id('one'), ['hello'])
    expect(await heard.promise).toEqual(['hello'])
    expect((await take(own, 1))[0]?.content).toEqual(new TextEncoder().encode('["hello"]'))
    expect((await take(theirs, 1))[0]?.content).toEqual(['hello'])
  })

  it('find each other in the partition of the key', async () => {
    const crypto = await loadCrypto()
    const publisher = await clients.create()
    const subscriber = await clients.create()
    const subscription = await subscriber.subscribe(id('many'))
    expect(subscription.partitions).toEqual([0, 1, 2, 3, 4])
    for (const partitionKey of ['anna', 'ben', 'carla']) {
      const { partition } = await publisher.publish(id('many'), partitionKey, { partitionKey })
      expect(partition).toBe(partitionOfKey(partitionKey, 5, crypto))
    }
    const { partition } = await publisher.publish(id('many'), 'chosen', { partition: 4 })
    expect(partition).toBe(4)
    const usual = await Promise.all([1, 2, 3].map((n) => publisher.publish(id('many'), n)))
    expect(new Set(usual.map((message) => message.partition)).size).toBe(1)
    const messages = await take(subscription, 7)
    const texts = messages.map(({ content }) => content).filter((content) => typeof content === 'string')
    expect(texts.sort()).toEqual(['anna', 'ben', 'carla', 'chosen'])
  })

  it('says so at once when nobody else is there, and keeps the message for who comes soon', async () => {
    // Far longer than a test may take.
    const publisher = await clients.create({ privateKey: owner.privateKey, waitForNeighboursMs: 3_600_000 })
    const alone = nextStatus(publisher, 'publishing-alone')
    const { neighbours } = await publisher.publish(id('one'), 'anybody?')
    expect(neighbours).toBe(0)
    expect(await alone).toMatchObject({ streamPartId: `${id('one')}#0` })
    const subscriber = await clients.create()
    const subscription = await subscriber.subscribe(id('one'))
    expect((await take(subscription, 1))[0]?.content).toBe('anybody?')
  })

  it('gives a message to who joins while its publisher ends', async () => {
    const [publisher, subscriber] = [
      await clients.create({ privateKey: owner.privateKey }),
      await clients.create(),
    ]
    expect((await publisher.publish(id('one'), 'and gone')).neighbours).toBe(0)
    const closed = publisher.close()
    const subscription = await subscriber.subscribe(id('one'))
    expect((await take(subscription, 1))[0]?.content).toBe('and gone')
    await closed
  })

  it('delivers what fits its schema, typed, and says what does not', async () => {
    const [publisher, subscriber] = [
      await clients.create({ privateKey: owner.privateKey }),
      await clients.create(),
    ]
    const left: string[] = []
    const celsius = z.number().transform((degrees) => {
      if (degrees < -273) throw new Error('a fault of the schema')
      return degrees
    })
    const subscription = await subscriber.subscribe(id('one'), {
      schema: z.object({ celsius }),
      onUndecodable: ({ error }) => left.push(`${error.code} ${error.message}`),
    })
    const taken = take(subscription, 2)
    for (const content of [{ celsius: 20 }, { celsius: 'warm' }, { celsius: -300 }, { celsius: 22 }])
      await publisher.publish(id('one'), content)
    expect((await taken).map(({ content }) => content.celsius + 1)).toEqual([21, 23])
    expect(left).toEqual([
      expect.stringMatching(/^CONTENT_MISMATCH .*celsius: /),
      expect.stringMatching(/^INVALID_ARGUMENT .* throws/),
    ])
    expect(subscription.counters()).toMatchObject({ delivered: 2, undecodable: 2 })
  })

  it('takes messages until its signal ends the subscription', async () => {
    const client = await clients.create({ privateKey: owner.privateKey })
    const ending = new AbortController()
    const subscription = await client.subscribe('/one', { signal: ending.signal })
    expect(subscription.streamId).toBe(id('one'))
    ending.abort()
    expect(await subscription[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined })
    expect(client.network.streamParts).toEqual([])
  })

  it('can stop publishing, and go on with the same chain', async () => {
    const [publisher, subscriber] = [
      await clients.create({ privateKey: owner.privateKey }),
      await clients.create(),
    ]
    const subscription = await subscriber.subscribe(id('one'))
    void publisher.publish(id('one'), 1)
    const second = publisher.publish(id('one'), 2)
    await publisher.stopPublishing(id('one'))
    expect(publisher.network.streamParts).toEqual([])
    await publisher.stopPublishing(id('one'))
    await publisher.publish(id('one'), 3)
    expect(publisher.network.streamParts).toEqual([`${id('one')}#0`])
    const messages = await take(subscription, 3)
    expect(messages.map(({ content }) => content)).toEqual([1, 2, 3])
    const { timestamp, sequenceNumber } = await second
    expect(messages[2]?.previous).toEqual({ timestamp, sequenceNumber })
  })

  it('stays where it subscribes when it stops publishing', async () => {
    const client = await clients.create({ privateKey: owner.privateKey, waitForNeighboursMs: 1 })
    await client.subscribe(id('one'))
    await client.publish(id('one'), 1)
    await client.stopPublishing(id('one'))
    expect(client.network.streamParts).toEqual([`${id('one')}#0`])
  })
})

describe('a subscription', () => {
  const parts = (client: { network: { streamParts: readonly StreamPartId[] } }) => client.network.streamParts

  it('shares the stream part with the others, and the last one leaves it', async () => {
    const client = await clients.create()
    const first = await client.subscribe(id('many'), { partitions: [1, 2, 2] })
    const second = await client.subscribe(id('many'), { partitions: [2, 3] })
    expect([...parts(client)].sort()).toEqual([1, 2, 3].map((partition) => `${id('many')}#${partition}`))
    await first.unsubscribe()
    await first.unsubscribe()
    expect([...parts(client)].sort()).toEqual([2, 3].map((partition) => `${id('many')}#${partition}`))
    await second.unsubscribe()
    expect(parts(client)).toEqual([])
  })

  it('ends when its loop is left', async () => {
    const client = await clients.create({ privateKey: owner.privateKey, waitForNeighboursMs: 0 })
    const subscription = await client.subscribe(id('one'))
    await client.publish(id('one'), 1)
    for await (const { content } of subscription) {
      expect(content).toBe(1)
      break
    }
    await client.publish(id('one'), 2)
    expect(subscription.counters().received).toBe(1)
  })

  it('that is too slow loses its oldest messages, counted and reported once', async () => {
    const client = await clients.create({ privateKey: owner.privateKey, waitForNeighboursMs: 0 })
    const slow = nextStatus(client, 'slow-consumer')
    const subscription = await client.subscribe(id('one'), { maxQueuedMessages: 10 })
    await Promise.all(Array.from({ length: 100 }, (_, i) => client.publish(id('one'), i)))
    expect(await slow).toMatchObject({ streamId: id('one') })
    const messages = await take(subscription, 10)
    expect(messages.map(({ content }) => content)).toEqual(Array.from({ length: 10 }, (_, i) => 90 + i))
    expect(subscription.counters()).toMatchObject({ received: 100, delivered: 10, dropped: 90 })
  })

  it('goes on after a callback threw or rejected, and reports it', async () => {
    const client = await clients.create({ privateKey: owner.privateKey, waitForNeighboursMs: 0 })
    const done = Promise.withResolvers<void>()
    const callback = ({ content }: { content: unknown }) => {
      if (content === 0) throw new Error('thrown')
      if (content === 1) return Promise.reject(new Error('rejected'))
      return done.resolve()
    }
    const subscription = await client.subscribe(id('one'), {}, callback)
    const reported = nextStatus(client, 'callback-failed', ({ error }) => String(error).includes('rejected'))
    for (const i of [0, 1, 2]) await client.publish(id('one'), i)
    await done.promise
    expect(await reported).toMatchObject({ streamId: id('one') })
    expect(subscription.counters()).toMatchObject({ delivered: 3, callbackFailures: 2 })
  })

  it('leaves out a message that is not what it says, and reports it', async () => {
    const [publisher, subscriber] = await Promise.all([
      clients.create({ privateKey: owner.privateKey }),
      clients.create(),
    ])
    const subscription = await subscriber.subscribe(id('one'))
    const reported = nextStatus(subscriber, 'undecodable')
    await publisher.publish(id('one'), 'good')
    publisher.network.publish(await handMadeBatch(owner.privateKey, ContentType.json, '{"no json'))
    await publisher.publish(id('one'), 'good again')
    expect((await take(subscription, 2)).map(({ content }) => content)).toEqual(['good', 'good again'])
    expect(await reported).toMatchObject({
      streamPartId: `${id('one')}#0`,
      publisherId: owner.nodeId,
      ref: { timestamp: expect.any(Number), sequenceNumber: 0 },
      error: { code: 'INVALID_JSON_CONTENT' },
    })
    expect(subscription.counters()).toMatchObject({ received: 3, delivered: 2, undecodable: 1 })
  })

  it('never hears of somebody who may not publish', async () => {
    const [publisher, intruder, subscriber] = await Promise.all([
      clients.create({ privateKey: owner.privateKey }),
      clients.create({ privateKey: reader.privateKey }),
      clients.create(),
    ])
    const subscription = await subscriber.subscribe(id('one'))
    const theirs = await intruder.subscribe(id('one'))
    await Promise.all([subscription, theirs].map((it) => it.waitForNeighbours()))
    const dropped = nextStatus(subscriber, 'dropped')
    intruder.network.publish(await handMadeBatch(reader.privateKey, ContentType.text, 'forged'))
    expect((await dropped).counter).toBeTypeOf('string')
    await publisher.publish(id('one'), 'genuine')
    expect((await take(subscription, 1))[0]?.content).toBe('genuine')
    expect(subscription.counters().received).toBe(1)
  })

  it('says when neighbours are there', async () => {
    const [one, two] = await Promise.all([clients.create(), clients.create()])
    const subscriptions = await Promise.all([one, two].map((client) => client.subscribe(id('one'))))
    await Promise.all(subscriptions.map((subscription) => subscription.waitForNeighbours()))
    expect(one.network.metrics().streamParts[0]?.neighbours.map(({ nodeId }) => nodeId)).toEqual([two.nodeId])
  })
})

describe('refusals', () => {
  it('of what the registry does not allow name the stream, the user and the way out', async () => {
    const client = await clients.create({ privateKey: reader.privateKey })
    await expect(client.publish(id('missing'), 1)).rejects.toMatchObject({ code: 'STREAM_NOT_FOUND' })
    await expect(client.subscribe(id('missing'))).rejects.toMatchObject({ code: 'STREAM_NOT_FOUND' })
    await expect(client.getStream(id('missing'))).rejects.toMatchObject({ code: 'STREAM_NOT_FOUND' })
    await expect(client.getPermissions(id('missing'))).rejects.toMatchObject({ code: 'STREAM_NOT_FOUND' })
    await expect(client.subscribe(id('private'))).rejects.toMatchObject({ code: 'NO_SUBSCRIBE_PERMISSION' })
    await expect(client.publish(id('ended'), 1)).rejects.toMatchObject({
      code: 'NO_PUBLISH_PERMISSION',
      message: expect.stringContaining('it ended at 1970-01-01T00:00:01.000Z'),
    })
    await expect(client.publish(id('one'), 1)).rejects.toMatchObject({
      code: 'NO_PUBLISH_PERMISSION',
      remedy: expect.stringContaining(`runnel stream grant ${id('one')} ${reader.nodeId} publish`),
    })
    expect(client.network.streamParts).toEqual([])
  })

  it('of what cannot be right are coded', async () => {
    const client = await clients.create({ privateKey: owner.privateKey, waitForNeighboursMs: 0 })
    const urgent = await client.publish(id('one'), 1, { urgent: true })
    const refused: [Promise<unknown>, string][] = [
      [client.publish('no stream id', 1), 'INVALID_STREAM_ID'],
      [client.publish({ id: id('one') } as never, 1), 'INVALID_STREAM_ID'],
      [client.subscribe({ streamId: id('one') } as never), 'INVALID_STREAM_ID'],
      [client.publish(id('one'), undefined), 'INVALID_CONTENT'],
      [client.publish(id('one'), new Uint8Array(2 ** 20 + 1)), 'MESSAGE_TOO_LARGE'],
      [client.publish(id('one'), 1, { partition: 1 }), 'PARTITION_OUT_OF_RANGE'],
      [client.publish(id('one'), 1, { partition: 0, partitionKey: 'a' }), 'INVALID_ARGUMENT'],
      [client.publish(id('one'), 1, { timestamp: -1 }), 'TIMESTAMP_OUT_OF_BOUNDS'],
      [client.publish(id('one'), 1, { signal: AbortSignal.abort() }), 'ABORTED'],
      [client.subscribe(id('one'), { partitions: [7] }), 'PARTITION_OUT_OF_RANGE'],
      [client.subscribe(id('one'), { partitions: [] }), 'INVALID_ARGUMENT'],
      [client.subscribe(id('one'), { urgent: 'other' as 'others' }), 'INVALID_ARGUMENT'],
      [client.waitForStorage(urgent), 'INVALID_ARGUMENT'],
      [client.createStream({ path: 'new' }), 'REGISTRY_READ_ONLY'],
      [client.createStream({}), 'INVALID_ARGUMENT'],
      [client.createStream({ path: 'a//b' }), 'INVALID_STREAM_ID'],
      [client.createStream({ id: `${reader.nodeId}/a` }), 'NOT_STREAM_OWNER'],
      [client.createStream({ path: 'a', partitions: 0 }), 'INVALID_ARGUMENT'],
      [client.createStream({ path: 'a', trackers: ['x'] }), 'INVALID_NODE_ID'],
      [client.grant(id('one'), { user: 'bob', permissions: ['publish'] }), 'INVALID_NODE_ID'],
      [client.grant(id('one'), { user: 'public', permissions: [] }), 'INVALID_ARGUMENT'],
      [
        client.grant(id('one'), { user: 'public', permissions: ['publish'], expiresAt: new Date('x') }),
        'INVALID_ARGUMENT',
      ],
      [client.listStreams({ owner: 'me' }), 'INVALID_NODE_ID'],
      [client.subscribe(id('one'), { partition: [0] } as object), 'INVALID_ARGUMENT'],
      [client.subscribe(id('one'), { signal: AbortSignal.abort() }), 'ABORTED'],
      [client.publish(id('one'), 1, { partitionkey: 'a' } as object), 'INVALID_ARGUMENT'],
      [client.createStream({ path: 'a', partition: 3 } as object), 'INVALID_ARGUMENT'],
      [client.grant(id('one'), { permissions: ['publish'] } as never), 'INVALID_ARGUMENT'],
      [
        client.grant(id('one'), { public: true, user: 'public', permissions: [] } as never),
        'INVALID_ARGUMENT',
      ],
      [client.revoke(id('one'), { public: true } as never), 'INVALID_ARGUMENT'],
      [client.resend(id('one'), { last: 1 }, { rav: true } as object).next(), 'INVALID_ARGUMENT'],
    ]
    // At once: each is refused when it is, whatever the order.
    await Promise.all(refused.map(([refusal, code]) => expect(refusal).rejects.toMatchObject({ code })))
    const subscription = await client.subscribe(id('one'), {}, () => {})
    expect(() => subscription[Symbol.asyncIterator]()).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })

  it('do not befall whoever publishes many, in order, and waits for room', async () => {
    const publisher = await clients.create({
      privateKey: owner.privateKey,
      publish: { maxQueuedMessages: 20 },
    })
    const subscriber = await clients.create()
    const subscription = await subscriber.subscribe(id('one'))
    const numbers = Array.from({ length: 1_000 }, (_, n) => n)
    const taken = take(subscription, 1_000)
    expect(await publisher.publishMany('/one', numbers)).toMatchObject({ messages: 1_000 })
    expect((await taken).map(({ content }) => content)).toEqual(numbers)
    const withBad = async function* () {
      yield* [1, 2, undefined]
      throw new Error('it goes on after what was refused')
    }
    await expect(publisher.publishMany('/one', withBad())).rejects.toMatchObject({ code: 'INVALID_CONTENT' })
    for (const contents of ['letters', 5, undefined, {}] as unknown as unknown[][])
      await expect(publisher.publishMany('/one', contents)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
    await publisher.writable()
  })

  it('of too much at once are said, never silent', async () => {
    const client = await clients.create({
      privateKey: owner.privateKey,
      waitForNeighboursMs: 60_000,
      publish: { maxQueuedMessages: 5 },
    })
    const calledOff = new AbortController()
    const { signal } = calledOff
    const waiting = [1, 2, 3, 4, 5].map((n) => client.publish(id('one'), n, { signal }))
    const settled = Promise.allSettled(waiting)
    await expect(client.publish(id('one'), 6)).rejects.toMatchObject({ code: 'PUBLISH_QUEUE_FULL' })
    calledOff.abort()
    const codes = (await settled).map((it) => it.status === 'rejected' && (it.reason as RunnelError).code)
    expect(codes).toEqual(Array(5).fill('ABORTED'))
  })
})

describe('a client', () => {
  it('finds its network in a file', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'runnel-client-'))
    const file = join(directory, 'network.json')
    writeFileSync(file, JSON.stringify(document))
    const client = await clients.create({ network: { kind: 'static', file } })
    expect((await client.listStreams()).map((stream) => stream.id)).toContain(id('one'))
    await expect(
      createClient({ network: { kind: 'static', file: join(directory, 'none') } }),
    ).rejects.toMatchObject({ code: 'NETWORK_FILE_MISSING' })
    rmSync(directory, { recursive: true })
  })

  it('connects to the responsible tracker, and says so', async () => {
    const client = await clients.create()
    const connected = nextStatus(client, 'tracker')
    await client.subscribe(id('one'))
    expect(await connected).toEqual({ type: 'tracker', trackerId: tracker.nodeId, state: 'connected' })
  })

  it('sends what was published before it closes', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const subscriber = await clients.create()
    const subscription = await subscriber.subscribe(id('one'))
    const published = Promise.all(Array.from({ length: 600 }, (_, i) => publisher.publish(id('one'), i)))
    expect(await publisher.close()).toEqual({ unsentMessages: 0 })
    await published
    expect((await take(subscription, 600)).at(-1)?.content).toBe(599)
  })

  it('closes once, whoever asks and however often, and refuses work afterwards', async () => {
    const client = await clients.create()
    const subscription = await client.subscribe(id('one'))
    const statuses = client.status()
    const closings = [client.close(), client.close(), client[Symbol.asyncDispose](), client.closed()]
    await Promise.all(closings)
    expect(await client.closed()).toEqual({ unsentMessages: 0 })
    await expect(client.publish(id('one'), 1)).rejects.toMatchObject({ code: 'CLIENT_CLOSED' })
    await expect(client.subscribe(id('one'))).rejects.toMatchObject({ code: 'CLIENT_CLOSED' })
    await expect(client.getStream(id('one'))).rejects.toMatchObject({ code: 'CLIENT_CLOSED' })
    for await (const message of subscription) throw new Error(`nothing was published: ${message.timestamp}`)
    for (let it = await statuses.next(); !it.done; it = await statuses.next())
      expect(it.value.type).toBeTypeOf('string')
  })

  it('reports no error when it leaves its tracker because it closes', async () => {
    const client = await clients.create()
    const connected = nextStatus(client, 'tracker')
    const statuses = client.status()
    await client.subscribe(id('one'))
    await connected
    await client.close()
    const seen: ClientStatus[] = []
    for (let it = await statuses.next(); !it.done; it = await statuses.next()) seen.push(it.value)
    expect(seen.filter(({ type }) => type === 'tracker')).toEqual([
      { type: 'tracker', trackerId: tracker.nodeId, state: 'connected' },
      { type: 'tracker', trackerId: tracker.nodeId, state: 'disconnected' },
    ])
  })

  it('gives up what it cannot send in time, and says how much', async () => {
    const client = await clients.create({
      privateKey: owner.privateKey,
      waitForNeighboursMs: 60_000,
      closeTimeoutMs: 1,
    })
    const unsent = [1, 2].map((n) => client.publish(id('one'), n))
    const refusals = Promise.allSettled(unsent)
    expect(await client.close()).toEqual({ unsentMessages: 2 })
    expect((await refusals).map((it) => it.status === 'rejected' && (it.reason as RunnelError).code)).toEqual(
      ['CLIENT_CLOSED', 'CLIENT_CLOSED'],
    )
  })

  it('shows its key nowhere', async () => {
    const privateKey = 'beef'.repeat(16)
    const client = await clients.create({ privateKey })
    expect(inspect(client, { depth: 12, showHidden: true, getters: true }).toLowerCase()).not.toContain(
      'beefbeef',
    )
    const refused = await createClient({
      privateKey: `${privateKey}zz`,
      network: { kind: 'static', document },
    }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refused).toMatchObject({ code: 'INVALID_KEY' })
    expect(inspect(refused, { depth: 12 })).not.toContain('beef')
  })

  it('leaves nothing running when it cannot start', async () => {
    const first = await clients.create()
    const port = Number(new URL(addressOf(first.network.contact, 'websocket') ?? '').port)
    await expect(
      clients.create({ transports: { websocket: { listen: { host: '127.0.0.1', port } }, webrtc: false } }),
    ).rejects.toMatchObject({ code: 'PORT_IN_USE' })
  })
})
