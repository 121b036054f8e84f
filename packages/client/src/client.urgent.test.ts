import { toStreamId, toStreamPartId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, newAccount, startTracker } from './client.testkit.ts'
import type { Message, RunnelClient, Subscription, UrgentOptions } from './index.ts'

const [owner, reader] = [newAccount(), newAccount()]
const open = toStreamId(`${owner.nodeId}/open`)
const secret = toStreamId(`${owner.nodeId}/secret`)

let tracker: Tracker
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  const members = [owner, reader].map(({ nodeId }) => ({ user: nodeId, publish: true, subscribe: true }))
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      { id: open, permissions: [{ user: 'public', subscribe: true, publish: true }] },
      { id: secret, permissions: members },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

const start = (account = newAccount()) => clients.create({ privateKey: account.privateKey })

/** Two clients that are neighbours over WebRTC, one of which gets urgent messages. */
async function pair(
  stream = open,
): Promise<{ from: RunnelClient; to: RunnelClient; messages: Subscription }> {
  const [from, to] = [await start(owner), await start(reader)]
  const messages = await to.subscribe(stream, { urgent: true })
  await from.publish(stream, 'first')
  await messages.waitForNeighbours()
  expect((await next(messages)).content).toBe('first')
  return { from, to, messages }
}

async function next(messages: Subscription): Promise<Message> {
  const result = await messages[Symbol.asyncIterator]().next()
  if (result.done === true) throw new Error('the subscription ended')
  return result.value
}

describe('urgent messages', () => {
  it('come with what their publisher says of them, and with defaults', async () => {
    const { from, messages } = await pair()
    const given: UrgentOptions = { lifetimeMs: 5_000, priority: 3, group: 7, object: 2, order: 'newest-only' }
    await from.publish(open, { x: 1 }, { urgent: given, headers: { kind: 'position' } })
    expect(await next(messages)).toMatchObject({
      ...{ content: { x: 1 }, headers: { kind: 'position' }, urgent: given, previous: undefined },
    })
    for (const group of [0, 1]) {
      await from.publish(open, 'tick', { urgent: true })
      expect((await next(messages)).urgent).toEqual({
        ...{ lifetimeMs: 1_000, priority: 128, group, object: 0, order: 'oldest' },
      })
    }
    await from.publish(open, 'ordinary')
    expect(await next(messages)).toMatchObject({ content: 'ordinary', urgent: undefined })
  })

  it('come back to their own client, but where it wants those of others only', async () => {
    const { from, to } = await pair()
    const [all, others] = [
      await to.subscribe(open, { urgent: true }),
      await to.subscribe(open, { urgent: 'others' }),
    ]
    await to.publish(open, 'mine', { urgent: { lifetimeMs: 60_000 } })
    expect((await next(all)).content).toBe('mine')
    await from.publish(open, 'theirs', { urgent: { lifetimeMs: 60_000 } })
    expect((await next(others)).content).toBe('theirs')
  })

  it('are made ready, and sent within one call when their time has come', async () => {
    const { from, messages } = await pair()
    const prepared = await from.prepare(open, 'goodbye', { urgent: { lifetimeMs: 60_000 } })
    await from.publish(open, 'before', { urgent: { lifetimeMs: 60_000 } })
    expect((await next(messages)).content).toBe('before')
    prepared.send()
    prepared.send()
    const closing = from.close()
    expect((await next(messages)).content).toBe('goodbye')
    await closing
    prepared.send()
  })

  it('are not made ready with options that are none', async () => {
    const client = await start(owner)
    const prepare = (options: object) => client.prepare(open, 'x', options as { readonly urgent: true })
    await expect(prepare({ urgent: true, key: 'k' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(prepare({})).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(prepare({ urgent: true, partition: 0, partitionKey: 'k' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })

  it('are as large as a picture', async () => {
    const { from, messages } = await pair()
    const picture = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251)
    await from.publish(open, picture, { urgent: { lifetimeMs: 60_000 } })
    expect((await next(messages)).content).toEqual(picture)
  })

  it('are encrypted in encrypted streams', async () => {
    const { from, messages } = await pair(secret)
    await from.publish(secret, 'psst', { urgent: { lifetimeMs: 60_000, priority: 0 } })
    const message = await next(messages)
    expect(message).toMatchObject({ content: 'psst', urgent: { lifetimeMs: 60_000, priority: 0 } })
    expect(message.keyId).toBeDefined()
  })

  it('come to nobody who did not ask for them, and are neither kept, looked for nor missed', async () => {
    const { from, to, messages } = await pair()
    const ordinary = await to.subscribe(open)
    for (let i = 0; i < 5; i++) {
      await from.publish(open, i, { urgent: { lifetimeMs: 60_000 } })
      expect((await next(messages)).content).toBe(i)
    }
    await from.publish(open, 'ordinary')
    expect((await next(ordinary)).content).toBe('ordinary')
    const { counters, streamParts } = to.network.metrics()
    expect(counters).toMatchObject({
      'urgent.messages': 5,
      'gap.opened': 0,
      'fetch.sent': 0,
      'data.messages': 2,
    })
    expect(streamParts.map(({ streamPartId }) => streamPartId)).toEqual([toStreamPartId(open, 0)])
    // Who comes later is sent what is kept.
    const later = await start()
    const afterwards = await later.subscribe(open, { urgent: true })
    await from.publish(open, 'last')
    let content: unknown
    while (content !== 'last') {
      const message = await next(afterwards)
      expect(message.urgent).toBeUndefined()
      content = message.content
    }
  })

  it('tell their publisher what its links carry', async () => {
    const { from, messages } = await pair()
    using rate = await from.urgentRate(open)
    expect(rate.kbitPerS).toBe(500)
    const told: (number | undefined)[] = []
    const faster = new Promise<void>((resolve) => {
      rate.on('rate', (kbitPerS) => {
        told.push(kbitPerS)
        if (kbitPerS !== undefined && kbitPerS > 2_000) resolve()
      })
    })
    // As fast as the link takes it.
    let isFaster = false
    void faster.then(() => (isFaster = true))
    while (!isFaster) {
      await from.publish(open, new Uint8Array(30_000), { urgent: { lifetimeMs: 10_000 } })
      await next(messages)
    }
    expect(rate.kbitPerS).toBe(told.at(-1))
    expect(rate.drops).toEqual({ late: 0, replaced: 0, shed: 0, refused: 0, overShare: 0 })
    const dropped = new Promise<void>((resolve) => {
      rate.on('dropped', ({ replaced, refused }) => replaced + refused > 0 && resolve())
    })
    for (let group = 0; group < 20; group++)
      void from.publish(open, new Uint8Array(200_000), { urgent: { group, order: 'newest-only' } })
    await dropped
    await expect(from.urgentRate(open, { partition: 1 })).rejects.toMatchObject({
      code: 'PARTITION_OUT_OF_RANGE',
    })
  })

  it('have a rate that refuses options and events that there are not', async () => {
    const from = await start()
    const invalid = { code: 'INVALID_ARGUMENT' }
    for (const options of [{ partiton: 0 }, { signal: 5 }, null])
      await expect(from.urgentRate(open, options as never)).rejects.toMatchObject(invalid)
    using rate = await from.urgentRate(open)
    expect(() => rate.on('rats' as 'rate', () => {})).toThrow(expect.objectContaining(invalid))
    expect(() => rate.on('rate', undefined as never)).toThrow(expect.objectContaining(invalid))
  })

  it('are more than the share of their publisher, who is told, and keep nobody else out', async () => {
    const { from, messages } = await pair()
    using rate = await from.urgentRate(open)
    const told = new Promise<void>((resolve) => rate.on('dropped', () => resolve()))
    const flood = { urgent: { priority: 0, lifetimeMs: 60_000 } }
    await Promise.all(Array.from({ length: 20 }, () => from.publish(open, new Uint8Array(200_000), flood)))
    await told
    expect(rate.drops.overShare).toBeGreaterThan(0)
    const other = await start()
    await other.subscribe(open, { urgent: true }, () => {})
    // Whose publisher is looked up with it.
    await other.publish(open, 'ordinary')
    while ((await next(messages)).content !== 'ordinary');
    await other.publish(open, 'another', { urgent: { lifetimeMs: 60_000 } })
    while ((await next(messages)).content !== 'another');
    expect(from.network.metrics().counters['urgent.demoted']).toBeGreaterThan(0)
  })

  it('are not kept out by ordinary ones that wait', async () => {
    const client = await clients.create({ waitForNeighboursMs: 60_000, publish: { maxQueuedMessages: 2 } })
    const waiting = [1, 2].map((n) => client.publish(open, n))
    await expect(client.publish(open, 3)).rejects.toMatchObject({ code: 'PUBLISH_QUEUE_FULL' })
    expect(await client.publish(open, 4, { urgent: true })).toMatchObject({ neighbours: 0 })
    await Promise.all(waiting)
  })

  it('with options that say nothing are refused', async () => {
    const client = await start()
    const publish = (urgent: unknown, more = {}) =>
      client.publish(open, 1, { urgent: urgent as UrgentOptions, ...more })
    for (const [urgent, text] of [
      [{ lifetimeMs: 60_001 }, 'lifetimeMs'],
      [{ lifetimeMs: 0 }, 'lifetimeMs'],
      [{ priority: 1.5 }, 'priority'],
      [{ group: -1 }, 'group'],
      [{ object: 1 }, 'goes with its group'],
      [{ order: 'latest' }, 'order is one of'],
      [{ lifetime: 1 }, 'no option "lifetime"'],
    ] as const)
      await expect(publish(urgent)).rejects.toThrow(text)
    await expect(publish(true, { key: 'a' })).rejects.toThrow('it has no key')
    const large = client.publish(open, new Uint8Array(262_144), { urgent: true })
    await expect(large).rejects.toMatchObject({ code: 'MESSAGE_TOO_LARGE' })
  })
})
