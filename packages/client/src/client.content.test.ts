import { addressOf, toStreamId, toStreamPartId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startStorage } from './client.storage.testkit.ts'
import { Clients, newAccount, nextStatus, startTracker, take } from './client.testkit.ts'
import { xorStep } from './content/content.testkit.ts'
import type { Message } from './index.ts'
import { collect, type FakeStorage } from './resend/storage.testkit.ts'

const owner = newAccount()
const streams = {
  sealed: toStreamId(`${owner.nodeId}/sealed`),
  mixed: toStreamId(`${owner.nodeId}/mixed`),
  compressed: toStreamId(`${owner.nodeId}/compressed`),
}

let tracker: Tracker
let storage: FakeStorage
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  const streamIds = Object.values(streams)
  storage = await startStorage(
    tracker,
    streamIds.map((id) => toStreamPartId(id, 0)),
  )
  const { nodeId, contact } = storage.node
  const permissions = [
    { user: owner.nodeId, publish: true, subscribe: true },
    { user: 'public', subscribe: true },
  ]
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: streamIds.map((id) => ({
      id,
      storageNodes: [{ nodeId, url: addressOf(contact, 'websocket') ?? '' }],
      permissions,
    })),
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await storage.node.stop()
  await tracker.stop()
})

const contents = (messages: readonly Message[]) => messages.map(({ content }) => content)
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** Takes up to three turns of the event loop, so that what is begun later is often ready earlier. */
function unevenTurns(): () => Promise<void> {
  let calls = 0
  return async () => {
    for (let turns = (calls++ * 7) % 4; turns > 0; turns--) await new Promise((done) => setImmediate(done))
  }
}

/** One that seals and opens with a key, taking its time. */
const keyed = (key: number) => ({ contentSteps: [xorStep(key, unevenTurns())] })

describe('content that takes time to seal and to open', () => {
  it('is not waited for any more once the caller’s signal aborts', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey }, keyed(1))
    let opening = Promise.withResolvers<void>()
    const never = () => (opening.resolve(), new Promise<void>(() => {}))
    const reader = await clients.create({}, { contentSteps: [xorStep(1, never)] })
    await reader.waitForStorage(await publisher.publish(streams.sealed, 'unread', { key: 'k' }))
    const calls = [
      (signal: AbortSignal) => collect(reader.resend(streams.sealed, { last: 1 }, { signal })),
      (signal: AbortSignal) => reader.last(streams.sealed, { from: 'storage', signal }),
    ]
    for (const call of calls) {
      opening = Promise.withResolvers<void>()
      const controller = new AbortController()
      const called = call(controller.signal)
      await Promise.race([opening.promise, called])
      controller.abort()
      await expect(called).rejects.toMatchObject({ code: 'ABORTED' })
    }
  })

  it('comes in order, live, from history, and from history into live', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey }, keyed(1))
    const reader = await clients.create({}, keyed(1))
    const live = await reader.subscribe(streams.sealed)
    const publishAll = (all: readonly number[]) =>
      Promise.all(all.map((n) => publisher.publish(streams.sealed, n)))
    const sent = await publishAll(numbers(1, 300))
    expect(contents(await take(live, 300))).toEqual(numbers(1, 300))
    await reader.waitForStorage(sent)
    expect(contents(await collect(reader.resend(streams.sealed, { last: 250 })))).toEqual(numbers(51, 300))

    const late = await clients.create({}, keyed(1))
    const [begin] = sent.slice(200)
    if (begin === undefined) throw new Error('Nothing was published')
    const joined = await late.subscribe(streams.sealed, { resend: { from: begin } })
    await publishAll(numbers(301, 400))
    expect(contents(await take(joined, 200))).toEqual(numbers(201, 400))
    expect(joined.counters()).toMatchObject({ dropped: 0, undecodable: 0, gaps: 0 })
  })

  it('is reported where it cannot be read, and the stream goes on', async () => {
    const [sealing, plain] = await Promise.all([
      clients.create({ privateKey: owner.privateKey }, keyed(1)),
      clients.create({ privateKey: owner.privateKey }),
    ])
    const readers = await Promise.all([
      clients.create({}, keyed(1)),
      clients.create({}, keyed(2)),
      clients.create(),
    ])
    const subscriptions = await Promise.all(readers.map((reader) => reader.subscribe(streams.mixed)))
    const raw = await (await clients.create()).subscribe(streams.mixed, { raw: true })
    const reported = readers.slice(1).map((reader) => nextStatus(reader, 'undecodable'))
    const sent = await sealing.publish(streams.mixed, 'secret')
    await plain.publish(streams.mixed, 'plain')
    const [able, otherKey, without] = subscriptions
    if (!able || !otherKey || !without) throw new Error('Three have subscribed')
    expect(contents(await take(able, 2)).sort()).toEqual(['plain', 'secret'])
    expect(contents(await take(otherKey, 1))).toEqual(['plain'])
    expect(contents(await take(without, 1))).toEqual(['plain'])
    const { timestamp, sequenceNumber } = sent
    const place = { streamPartId: `${streams.mixed}#0`, ref: { timestamp, sequenceNumber } }
    expect(await reported[0]).toMatchObject({ ...place, error: { code: 'CONTENT_UNREADABLE' } })
    expect(await reported[1]).toMatchObject({ ...place, error: { code: 'ENCRYPTED_CONTENT' } })
    expect((await take(raw, 2)).every(({ content }) => content instanceof Uint8Array)).toBe(true)

    const history = readers[1]
    if (history === undefined) throw new Error('Three have subscribed')
    await history.waitForStorage(sent)
    const again = nextStatus(history, 'undecodable')
    expect(contents(await collect(history.resend(streams.mixed, { from: 0 })))).toEqual(['plain'])
    expect(await again).toMatchObject({ ...place, error: { code: 'CONTENT_UNREADABLE' } })
  })
})

describe('publish.compress', () => {
  it('makes large contents small on their way, for readers who need no setting', async () => {
    const publisher = await clients.create({
      privateKey: owner.privateKey,
      publish: { compress: 'deflate' },
    })
    const reader = await clients.create()
    const subscription = await reader.subscribe(streams.compressed)
    const raw = await reader.subscribe(streams.compressed, { raw: true })
    const values = [
      { rows: numbers(1, 2_000) },
      'small',
      'text '.repeat(2_000),
      new Uint8Array(100_000).fill(1),
    ]
    const headers = { schema: 'rows/2' }
    const sent = await Promise.all(
      values.map((value) => publisher.publish(streams.compressed, value, { headers })),
    )
    const messages = await take(subscription, 4)
    expect(contents(messages)).toEqual(values)
    expect(messages.map(({ contentType }) => contentType)).toEqual(['json', 'text', 'text', 'binary'])
    expect(messages.map((message) => message.headers)).toEqual(values.map(() => headers))
    const sizes = (await take(raw, 4)).map(({ content }) => (content as Uint8Array).length)
    expect(sizes.map((size) => size < 5_000)).toEqual([true, true, true, true])
    await reader.waitForStorage(sent)
    expect(contents(await collect(reader.resend(streams.compressed, { last: 4 })))).toEqual(values)
  })
})
