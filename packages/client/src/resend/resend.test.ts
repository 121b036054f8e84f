import {
  compareRefs,
  contradictionOf,
  parseStreamPartId,
  toStreamPartId,
  verifyAccessToken,
  type MessageBatch,
  type RunnelError,
} from '@runnel/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RunnelClient } from '../runnel-client.ts'
import type { ClientStatus } from '../status.ts'
import type { Message } from '../subscribe/message.ts'
import { at, chainOf, crypto, identityOf, streamId, times } from './batches.testkit.ts'
import { resendLimits } from './limits.ts'
import { collect, says, StorageNet, type FakeStorage, type Script } from './storage.testkit.ts'

let net: StorageNet
afterEach(() => net.stop())

const contents = (messages: readonly Message[]) => messages.map(({ content }) => content)
const texts = (chainId: string, of: readonly number[]) => of.map((time) => `${chainId}:${time}`)

/** Statuses from now on. */
function watch(client: RunnelClient): ClientStatus[] {
  const seen: ClientStatus[] = []
  void (async () => {
    for await (const status of client.status()) seen.push(status)
  })()
  return seen
}

const failures = (seen: readonly ClientStatus[]) =>
  seen.flatMap((status) =>
    status.type === 'storage-failed' ? [(status.error as { code?: string }).code] : [],
  )

async function setUp(names: readonly string[], options: { partitions?: number } = {}) {
  net = new StorageNet(names, options)
  const stores: FakeStorage[] = []
  for (const name of names) stores.push(await net.storage(name))
  const client = await net.client('carol')
  return { client, stores, seen: watch(client) }
}

describe('resend', () => {
  it('gives the last so many, exactly, also out of larger batches', async () => {
    const { client, stores } = await setUp(['one'])
    stores[0]?.add(...chainOf(times(1, 100), { perBatch: 7 }))
    const messages = await net.turn(collect(client.resend(streamId, { last: 10 })))
    expect(contents(messages)).toEqual(texts('a', times(91, 100)))
    expect(messages[0]).toMatchObject({
      streamId,
      partition: 0,
      timestamp: 91,
      contentType: 'text',
      previous: at(90),
    })
    expect(contents(await net.turn(collect(client.resend(streamId, { last: 1_000 }))))).toHaveLength(100)
  })

  it('gives everything from a place, up to another, of one publisher or chain', async () => {
    const { client, stores } = await setUp(['one'])
    stores[0]?.add(...chainOf(times(1, 50, 2), { perBatch: 4 }))
    stores[0]?.add(...chainOf(times(2, 50, 2), { publisher: 'bob', chainId: 'b', perBatch: 5 }))
    const read = (...args: [Parameters<RunnelClient['resend']>[1], Parameters<RunnelClient['resend']>[2]?]) =>
      net.turn(collect(client.resend(streamId, ...args)))
    expect((await read({ from: 10, to: at(20) })).map(({ timestamp }) => timestamp)).toEqual(times(10, 20))
    expect((await read({ from: new Date(45) })).map(({ timestamp }) => timestamp)).toEqual(times(45, 50))
    const bob = { publisherId: identityOf('bob').nodeId }
    expect(contents(await read({ from: 10, to: 20 }, bob))).toEqual(texts('b', times(10, 20, 2)))
    expect(contents(await read({ last: 3 }, { ...bob, messageChainId: 'b' }))).toEqual(
      texts('b', [46, 48, 50]),
    )
    expect(await read({ from: 1_000 })).toEqual([])
    expect(await read({ last: 5 }, { publisherId: identityOf('nobody').nodeId })).toEqual([])
  })

  it('merges partitions by time, and the last of all of them', async () => {
    const { client, stores } = await setUp(['one', 'two'], { partitions: 3 })
    for (const partition of [0, 1, 2]) {
      const batches = chainOf(times(1 + partition, 60, 3), { partition, chainId: `p${partition}` })
      for (const store of stores) store.add(...batches)
    }
    const all = await net.turn(collect(client.resend(streamId, { from: 0 })))
    expect(all.map(({ timestamp }) => timestamp)).toEqual(times(1, 60))
    const last = await net.turn(collect(client.resend(streamId, { last: 7 })))
    expect(last.map(({ timestamp }) => timestamp)).toEqual(times(54, 60))
    const some = await net.turn(collect(client.resend(streamId, { last: 2 }, { partitions: [1] })))
    expect(contents(some)).toEqual(texts('p1', [56, 59]))
  })

  it('gives the one of two messages for one place that counts, and says so with both', async () => {
    const { client, stores, seen } = await setUp(['one', 'two'])
    const [low, high] = [0, 20].map((contentBytes) => chainOf([5], { contentBytes }))
    stores[0]?.add(...(high ?? []))
    stores[1]?.add(...(low ?? []))
    const messages = await net.turn(collect(client.resend(streamId, { from: 0 })))
    expect(contents(messages)).toEqual(['a:5'])
    expect(seen.filter(({ type }) => type === 'equivocation')).toEqual([
      {
        type: 'equivocation',
        streamPartId: `${streamId}#0`,
        publisherId: identityOf('alice').nodeId,
        messageChainId: 'a',
        place: at(5),
        winner: low?.[0]?.bytes,
        loser: high?.[0]?.bytes,
        delivered: 'winner',
      },
    ])
    expect(client.counters()['resendEquivocations']).toBe(1)
  })

  it('takes from each storage node what the others lack', async () => {
    const { client, stores, seen } = await setUp(['one', 'two', 'three'])
    const batches = chainOf(times(1, 90))
    stores.forEach((store, i) => store.add(...batches.filter((_, at) => at % 3 !== i)))
    const messages = await net.turn(collect(client.resend(streamId, { from: 0 })))
    expect(contents(messages)).toEqual(texts('a', times(1, 90)))
    const last = await net.turn(collect(client.resend(streamId, { last: 40 })))
    expect(contents(last)).toEqual(texts('a', times(51, 90)))
    expect(seen.filter(({ type }) => type === 'gap' || type === 'storage-failed')).toEqual([])
  })

  describe.each([
    ['from a place', { from: 81 }],
    ['the last of', { last: 20 }],
  ])('%s what storage nodes have', (_, selection) => {
    it.each([1, 2])('begins before the last was sent, with %i of them', async (count) => {
      const { client, stores } = await setUp(['one', 'two'].slice(0, count))
      const batches = chainOf(times(1, 100))
      const rest: (() => void)[] = []
      for (const store of stores) {
        store.add(...batches)
        store.script = (request, reply) => {
          const { requestId } = request
          const { batches: selected, ...extent } = store.select(request)
          const send = (some: readonly MessageBatch[]) =>
            some.forEach((batch) => reply({ type: 'resendData', requestId, batch }))
          reply({ type: 'resendStart', requestId, ...extent })
          send(selected.slice(0, 5))
          rest.push(() => {
            send(selected.slice(5))
            reply({ type: 'resendEnd', requestId, code: '', text: '' })
          })
        }
      }
      const reading = client.resend(streamId, selection)
      const first = await net.turn(reading.next())
      expect(first.value).toMatchObject({ timestamp: 81 })
      rest.forEach((send) => send())
      expect(contents(await net.turn(collect(reading)))).toEqual(texts('a', times(82, 100)))
    })

    it('begins before the last was checked', async () => {
      const { client, stores } = await setUp(['one'])
      const batches = chainOf(times(1, 100))
      const last = batches.at(-1) as MessageBatch
      stores[0]?.add(...batches.slice(0, -1), {
        ...last,
        bytes: withSignature(last.bytes, new Uint8Array(65)),
      })
      const given: number[] = []
      const reading = (async () => {
        for await (const { timestamp } of client.resend(streamId, selection)) given.push(timestamp)
      })()
      await expect(net.turn(reading)).rejects.toMatchObject({ code: 'RESEND_FAILED' })
      expect(given).toEqual(times(81, 99))
    })
  })

  it.each([
    [1, 'is read all the same'],
    [2, 'ends the resend'],
  ])('a storage node that is the only one, and cannot be dialled %i times, %s', async (failing) => {
    const { client, stores, seen } = await setUp(['one'])
    stores[0]?.add(...chainOf(times(1, 20)))
    const connect = net.network.connect.bind(net.network)
    let dials = 0
    vi.spyOn(net.network, 'connect').mockImplementation((from, to, onOpen, onFail) => {
      if (to !== stores[0]?.node.nodeId || ++dials > failing) return connect(from, to, onOpen, onFail)
      return net.clock.schedule(10, () => onFail('refused'))
    })
    const reading = net.turn(collect(client.resend(streamId, { from: 0 })))
    if (failing === 1) expect(contents(await reading)).toEqual(texts('a', times(1, 20)))
    else await expect(reading).rejects.toMatchObject({ code: 'RESEND_FAILED' })
    expect([dials, failures(seen)]).toEqual([2, Array.from({ length: failing }, () => 'RESEND_LINK_LOST')])
  })

  it('gives exactly the last also where several stand at the place where they begin', async () => {
    const { client, stores } = await setUp(['one', 'two'])
    for (const store of stores) {
      for (const chainId of ['a', 'b', 'c']) store.add(...chainOf(times(1, 20), { chainId }))
    }
    const messages = await net.turn(collect(client.resend(streamId, { last: 4 })))
    expect(contents(messages)).toEqual(['c:19', 'a:20', 'b:20', 'c:20'])
  })

  it('gives all that any storage node has since the place where they agree that the last begin', async () => {
    const { client, stores, seen } = await setUp(['one', 'two'])
    const batches = chainOf(times(1, 100))
    stores[0]?.add(...batches.toSpliced(94, 1))
    stores[1]?.add(...batches.toSpliced(96, 1))
    const messages = await net.turn(collect(client.resend(streamId, { last: 10 })))
    expect(contents(messages)).toEqual(texts('a', times(90, 100)))
    expect(seen.filter(({ type }) => type === 'gap')).toEqual([])
  })

  it('asks who stands by for what those that are read lack, and reports what nobody has', async () => {
    const { client, stores, seen } = await setUp(['one', 'two', 'three', 'four'])
    const batches = chainOf(times(1, 30))
    const lacking = new Set([10, 11, 20])
    for (const store of stores) store.add(...batches.filter((_, i) => !lacking.has(i + 1)))
    const gaps: unknown[] = []
    const onGap = (gap: unknown) => gaps.push(gap)
    const messages = await net.turn(collect(client.resend(streamId, { from: 1 }, { onGap })))
    expect(messages).toHaveLength(27)
    const { nodeId: publisherId } = identityOf('alice')
    const gap = { streamPartId: `${streamId}#0`, publisherId, messageChainId: 'a' }
    expect(gaps).toEqual([
      { ...gap, after: at(9), upTo: at(11) },
      { ...gap, after: at(19), upTo: at(20) },
    ])
    expect(seen.filter(({ type }) => type === 'gap')).toHaveLength(2)
    // One of the four has them after all: whether it is read or stands by, they come.
    gaps.length = 0
    stores[3]?.add(...batches.filter((_, i) => lacking.has(i + 1)))
    const isForGap = ({ publisherId: only }: { publisherId: unknown }) => only !== undefined
    const askedForGaps = () => stores.flatMap(({ asked }) => asked.filter(isForGap)).length
    const askedBefore = askedForGaps()
    // Which three are read is drawn anew each time.
    for (let i = 0; i < 20; i++) {
      expect(await net.turn(collect(client.resend(streamId, { from: 1 }, { onGap })))).toHaveLength(30)
    }
    expect(gaps).toEqual([])
    expect(askedForGaps()).toBeGreaterThan(askedBefore)
  })

  it('asks all that stand by for a gap of which each has a part', async () => {
    const { client, stores } = await setUp(['one', 'two', 'three', 'four', 'five'])
    const batches = chainOf(times(1, 15))
    stores.forEach((store, i) => store.add(...batches.filter((_, at) => at < 9 || at > 13 || at === 9 + i)))
    const gaps: unknown[] = []
    // Which two stand by is drawn anew each time.
    for (let i = 0; i < 10; i++) {
      const reading = client.resend(streamId, { from: 1 }, { onGap: (gap) => gaps.push(gap) })
      expect((await net.turn(collect(reading))).map(({ timestamp }) => timestamp)).toEqual(times(1, 15))
    }
    expect(gaps).toEqual([])
  })

  it('does not call missing what was before the selection', async () => {
    const { client, stores, seen } = await setUp(['one'])
    stores[0]?.add(...chainOf(times(5, 9), { previous: at(4) }))
    expect(await net.turn(collect(client.resend(streamId, { from: 5 })))).toHaveLength(5)
    expect(await net.turn(collect(client.resend(streamId, { last: 2 })))).toHaveLength(2)
    expect(seen.filter(({ type }) => type === 'gap')).toEqual([])
    expect(await net.turn(collect(client.resend(streamId, { from: 3 })))).toHaveLength(5)
    expect(seen.filter(({ type }) => type === 'gap')).toMatchObject([
      { after: at(2, 2 ** 32 - 1), upTo: at(4) },
    ])
  })

  it('reads no further ahead than the window, and goes on as messages are taken', async () => {
    const { client, stores } = await setUp(['one'])
    const store = stores[0] as FakeStorage
    store.add(...chainOf(times(1, 400), { contentBytes: 20_000 }))
    const reading = client.resend(streamId, { from: 0 })
    const first = await net.turn(reading.next())
    expect(first.value).toMatchObject({ timestamp: 1 })
    await net.turn(new Promise<void>((resolve) => net.clock.schedule(60_000, resolve)))
    expect(store.sentBytes.total).toBeLessThan(resendLimits.maxSourceWindowBytes * 1.5)
    expect(await net.turn(collect(reading))).toHaveLength(399)
    expect(store.asked).toHaveLength(1)
  })

  it('ends at the storage node when the loop is left', async () => {
    const { client, stores } = await setUp(['one'])
    const store = stores[0] as FakeStorage
    store.add(...chainOf(times(1, 400), { contentBytes: 20_000 }))
    await net.turn(
      (async () => {
        for await (const { timestamp } of client.resend(streamId, { from: 0 })) if (timestamp === 3) break
      })(),
    )
    await net.turn(new Promise<void>((resolve) => net.clock.schedule(100, resolve)))
    expect(store.cancelled).toEqual([store.asked[0]?.requestId])
  })

  it('goes on where a link broke, without anything twice', async () => {
    const { client, stores, seen } = await setUp(['one'])
    const store = stores[0] as FakeStorage
    store.add(...chainOf(times(1, 400), { contentBytes: 20_000, perBatch: 3 }))
    const messages: Message[] = []
    await net.turn(
      (async () => {
        for await (const message of client.resend(streamId, { last: 20_000 })) {
          messages.push(message)
          if (message.timestamp % 100 === 0) net.network.breakLinks(store.node.nodeId)
        }
      })(),
    )
    expect(messages.map(({ timestamp }) => timestamp)).toEqual(times(1, 400))
    expect(store.asked.length).toBeGreaterThan(2)
    expect(store.asked.slice(1).map(({ selection }) => selection.kind)).toEqual(
      store.asked.slice(1).map(() => 'range'),
    )
    expect(seen.filter(({ type }) => type === 'storage-failed' || type === 'gap')).toEqual([])
  })

  it('goes on with another storage node when one is gone', async () => {
    const { client, stores } = await setUp(['one', 'two', 'three', 'four'])
    for (const store of stores) store.add(...chainOf(times(1, 400), { contentBytes: 20_000 }))
    const messages: Message[] = []
    await net.turn(
      (async () => {
        for await (const message of client.resend(streamId, { from: 0 })) {
          messages.push(message)
          if (message.timestamp !== 100) continue
          const read = stores.filter(({ asked }) => asked.length > 0)
          for (const { node } of read.slice(0, 2)) void node.stop()
        }
      })(),
    )
    expect(messages.map(({ timestamp }) => timestamp)).toEqual(times(1, 400))
  })

  it('names the user whose node it is, when the two differ', async () => {
    net = new StorageNet(['one'])
    const store = await net.storage('one')
    const [plain, other] = [await net.client('carol'), await net.client('dave', { nodeName: 'dave’s node' })]
    for (const client of [plain, other]) await net.turn(collect(client.resend(streamId, { last: 1 })))
    const [first, second] = store.asked
    expect(first?.token).toBeUndefined()
    const parties = { requesterId: identityOf('dave’s node').nodeId, storageNodeId: store.node.nodeId }
    expect(second?.token).toMatchObject({ userId: other.userId })
    expect(second?.token && verifyAccessToken(second.token, parties, net.clock.now(), crypto)).toBe(true)
  })

  it('can be called off', async () => {
    const { client, stores } = await setUp(['one'])
    if (stores[0]) stores[0].script = () => {}
    const controller = new AbortController()
    const reading = collect(client.resend(streamId, { last: 1 }, { signal: controller.signal }))
    net.clock.schedule(3_000, () => controller.abort())
    await expect(net.turn(reading)).rejects.toMatchObject({ code: 'ABORTED' })
    const late = client.resend(streamId, { last: 1 }, { signal: AbortSignal.abort() })
    await expect(net.turn(collect(late))).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('of what one storage node has can be called off when all of it has come', async () => {
    const { client, stores } = await setUp(['one'])
    const [store] = stores as [FakeStorage]
    store.add(...chainOf(times(1, 40)))
    const part = { streamPartId: toStreamPartId(streamId, 0), from: at(1), to: at(40) }
    const controller = new AbortController()
    const read: Uint8Array[] = []
    const reading = (async () => {
      for await (const bytes of client.readStorageNode(store.node.nodeId, part, controller.signal)) {
        read.push(bytes)
        await new Promise<void>((resolve) => net.clock.schedule(1_000, resolve))
        controller.abort()
      }
    })()
    await expect(net.turn(reading)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(read).toHaveLength(1)
  })

  it('can be called off while those that stand by are asked for a gap', async () => {
    const { client, stores, seen } = await setUp(['one', 'two', 'three', 'four', 'five'])
    const controller = new AbortController()
    const batches = chainOf(times(1, 20)).toSpliced(10, 1)
    for (const store of stores) {
      store.add(...batches)
      const serve = store.serve.bind(store)
      store.serve = (request, ...rest) => {
        // Who is asked for the gap never answers.
        if (request.publisherId === undefined) serve(request, ...rest)
        else controller.abort()
      }
    }
    const reading = collect(client.resend(streamId, { from: 1 }, { signal: controller.signal }))
    const beganMs = net.clock.now()
    await expect(net.turn(reading)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(net.clock.now() - beganMs).toBeLessThan(resendLimits.startTimeoutMs)
    expect(stores.flatMap(({ asked }) => asked)).toHaveLength(4)
    expect(seen.filter(({ type }) => type === 'gap')).toEqual([])
  })

  it('ends when the client closes, and is refused afterwards', async () => {
    const { client, stores } = await setUp(['one'])
    if (stores[0]) stores[0].script = () => {}
    const reading = collect(client.resend(streamId, { last: 1 }))
    net.clock.schedule(3_000, () => void client.close())
    await expect(net.turn(reading)).rejects.toMatchObject({ code: 'ABORTED' })
    await expect(net.turn(collect(client.resend(streamId, { last: 1 })))).rejects.toMatchObject({
      code: 'CLIENT_CLOSED',
    })
  })

  it('ends a paused playback when the client closes', async () => {
    const { client, stores } = await setUp(['one'])
    stores[0]?.add(...chainOf(times(1, 20)))
    const playback = client.playback(streamId, { from: 0 })
    playback.pause()
    const next = playback.next()
    net.clock.schedule(3_000, () => void client.close())
    await expect(net.turn(next)).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('says why there is nothing to read', async () => {
    const { client } = await setUp(['one'])
    const codeOf = (reading: AsyncIterable<unknown>) =>
      net.turn(collect(reading)).then(
        () => 'fine',
        (error: unknown) => (error as RunnelError).code,
      )
    expect(await codeOf(client.resend(`${streamId}/kept-nowhere`, { last: 1 }))).toBe('NO_STORAGE_NODE')
    expect(await codeOf(client.resend(`${streamId}/unknown`, { last: 1 }))).toBe('STREAM_NOT_FOUND')
    expect(await codeOf(client.resend('nonsense', { last: 1 }))).toBe('INVALID_STREAM_ID')
    expect(await codeOf(client.resend(streamId, { last: 0 }))).toBe('INVALID_RESEND')
    expect(await codeOf(client.resend(streamId, { from: 2, to: 1 }))).toBe('INVALID_RESEND')
    expect(await codeOf(client.resend(streamId, { last: 1 }, { partitions: [4] }))).toBe(
      'PARTITION_OUT_OF_RANGE',
    )
  })

  it('never asks its own node', async () => {
    net = new StorageNet(['one'])
    const own = await net.client('one')
    await expect(net.turn(collect(own.resend(streamId, { last: 1 })))).rejects.toMatchObject({
      code: 'NO_STORAGE_NODE',
    })
  })
})

describe('a storage node that', () => {
  const genuine = chainOf(times(1, 20))
  const start = { type: 'resendStart', from: at(0), to: at(100), count: 0 } as const
  const end = { type: 'resendEnd', code: '', text: '' } as const
  const data = (batch: MessageBatch | undefined) => {
    if (batch === undefined) throw new Error('No such batch')
    return { type: 'resendData', batch } as const
  }
  const dataOf = (batches: readonly MessageBatch[]) => batches.map(data)
  /** Signed by mallory in alice's name. */
  const forged = chainOf(times(1, 20)).map((batch, i): MessageBatch => {
    const other = chainOf(times(1, 20), { publisher: 'mallory' })[i] as MessageBatch
    return { ...batch, signature: other.signature, bytes: withSignature(batch.bytes, other.signature) }
  })

  const misdeeds: [string, string, Script][] = [
    ['is silent', 'RESEND_TIMEOUT', () => {}],
    ['falls silent', 'RESEND_TIMEOUT', says(start, ...dataOf(genuine.slice(0, 5)))],
    ['sends what is not signed', 'RESEND_INVALID_ANSWER', says(start, ...dataOf(forged), end)],
    ['sends before it begins', 'RESEND_INVALID_ANSWER', says(data(genuine[0]), end)],
    ['begins twice', 'RESEND_INVALID_ANSWER', says(start, start, end)],
    ['ends before it begins', 'RESEND_INVALID_ANSWER', says(end)],
    ['sends out of order', 'RESEND_INVALID_ANSWER', says(start, data(genuine[3]), data(genuine[2]), end)],
    ['repeats itself', 'RESEND_INVALID_ANSWER', says(start, data(genuine[3]), data(genuine[3]), end)],
    [
      'sends another stream part',
      'RESEND_INVALID_ANSWER',
      says(start, ...dataOf(chainOf([5], { partition: 7 })), end),
    ],
    ['sends what was not asked for', 'RESEND_INVALID_ANSWER', says(start, ...dataOf(chainOf([5_000])), end)],
    [
      'sends from the future',
      'RESEND_INVALID_ANSWER',
      says({ ...start, to: at(2 ** 47) }, ...dataOf(chainOf([2 ** 46])), end),
    ],
    [
      'answers another question',
      'RESEND_INVALID_ANSWER',
      says(start, { type: 'stored', code: '', text: '' }),
    ],
    ['cannot read its store', 'RESEND_REFUSED', says({ ...end, code: 'STORE_FAILED', text: 'disk' })],
    ['is too busy for long', 'RESEND_REFUSED', says({ ...end, code: 'TOO_MANY_REQUESTS' })],
    ['refuses', 'RESEND_DENIED', says({ ...end, code: 'NOT_PERMITTED' })],
    ['refuses the delegation', 'RESEND_DENIED', says({ ...end, code: 'DELEGATION_REVOKED' })],
  ]

  it.each(misdeeds)('%s is given up, and another one goes on', async (name, code, script) => {
    const { client, stores, seen } = await setUp(['one', 'two'])
    const [bad, good] = stores as [FakeStorage, FakeStorage]
    bad.script = script
    good.add(...genuine)
    const messages = await net.turn(collect(client.resend(streamId, { from: 0 })))
    expect(contents(messages)).toEqual(texts('a', times(1, 20)))
    // One that falls silent is not waited for, and asked once more at the end.
    if (name === 'falls silent') expect(failures(seen)[0]).toBe('RESEND_TOO_SLOW')
    else expect(failures(seen)).toEqual([code])
  })

  it.each(misdeeds)('%s ends the resend when it is the only one', async (_, code, script) => {
    const { client, stores } = await setUp(['one'])
    if (stores[0]) stores[0].script = script
    const reading = net.turn(collect(client.resend(streamId, { from: 0 })))
    await expect(reading).rejects.toMatchObject({ code: code === 'RESEND_DENIED' ? code : 'RESEND_FAILED' })
  })

  it('announces more than it sends is not believed', async () => {
    const { client, stores, seen } = await setUp(['one', 'two'])
    const [bad, good] = stores as [FakeStorage, FakeStorage]
    bad.script = says({ ...start, from: at(11), to: at(20), count: 10 }, ...dataOf(genuine.slice(15)), end)
    good.add(...genuine)
    const messages = await net.turn(collect(client.resend(streamId, { last: 10 })))
    expect(contents(messages)).toEqual(texts('a', times(11, 20)))
    expect(failures(seen)).toEqual(['RESEND_INCOMPLETE'])
  })

  it.each([
    ['forged', 'RESEND_INVALID_ANSWER', () => forged],
    ['worthless', undefined, () => chainOf(times(1, 20), { publisher: 'mallory', chainId: 'm' })],
  ])('agrees where the last begin, and sends %s ones, hides nothing', async (_, code, sent) => {
    const { client, stores, seen } = await setUp(['one', 'two'])
    const [bad, good] = stores as [FakeStorage, FakeStorage]
    bad.script = says({ ...start, from: at(11), to: at(20), count: 10 }, ...dataOf(sent().slice(10)), end)
    good.add(...genuine)
    const messages = await net.turn(collect(client.resend(streamId, { last: 10 })))
    expect(contents(messages)).toEqual(texts('a', times(11, 20)))
    expect(failures(seen)).toEqual(code === undefined ? [] : [code])
  })

  describe('trickles', () => {
    /** A batch every so often, from the first on. */
    const trickle =
      (batches: readonly MessageBatch[], everyMs: number): Script =>
      ({ requestId }, reply) => {
        reply({ ...start, requestId })
        batches.forEach((batch, i) => {
          net.clock.schedule(everyMs * (i + 1), () => reply({ type: 'resendData', requestId, batch }))
        })
        net.clock.schedule(everyMs * (batches.length + 1), () => reply({ ...end, requestId }))
      }

    it('holds others up for a moment only', async () => {
      const { client, stores, seen } = await setUp(['one', 'slow'])
      const [one, slow] = stores as [FakeStorage, FakeStorage]
      one.add(...genuine)
      slow.script = trickle(genuine, 9_900)
      const beganMs = net.clock.now()
      const messages = await net.turn(collect(client.resend(streamId, { from: 0 })))
      expect(contents(messages)).toEqual(texts('a', times(1, 20)))
      expect(failures(seen)[0]).toBe('RESEND_TOO_SLOW')
      expect(net.clock.now() - beganMs).toBeLessThan(30_000)
    })

    it('is asked for what the others lack all the same', async () => {
      const { client, stores, seen } = await setUp(['one', 'slow'])
      const [one, slow] = stores as [FakeStorage, FakeStorage]
      one.add(...genuine.slice(0, 12).toSpliced(8, 1))
      slow.script = (request, reply) => {
        if (slow.asked.length === 1) trickle(genuine, 700)(request, reply)
        else {
          const { selection } = request
          if (selection.kind !== 'range') return
          const { from, to } = selection
          const left = genuine.filter(({ messages: [first] }) => {
            return first && compareRefs(first, from) >= 0 && compareRefs(first, to) <= 0
          })
          trickle(left, 100)(request, reply)
        }
      }
      const messages = await net.turn(collect(client.resend(streamId, { from: 0 })))
      expect(contents(messages)).toEqual(texts('a', times(1, 20)))
      expect(failures(seen)).toEqual(['RESEND_TOO_SLOW'])
    })

    it('is given up when it is the only one', async () => {
      const { client, stores, seen } = await setUp(['slow'])
      if (stores[0]) stores[0].script = trickle(genuine, 9_900)
      const reading = collect(client.resend(streamId, { from: 0 }))
      await expect(net.turn(reading)).rejects.toMatchObject({ code: 'RESEND_FAILED' })
      expect(failures(seen)).toEqual(['RESEND_TIMEOUT'])
    })
  })

  it.each([
    ['ends early', 'RESEND_INCOMPLETE', (end: () => void) => void net.clock.schedule(500, end)],
    ['falls silent', 'RESEND_TOO_SLOW', () => {}],
  ])('says that the last are all later, and %s, hides nothing', async (_, code, then) => {
    const { client, stores, seen } = await setUp(['one', 'two', 'liar'])
    const [one, two, liar] = stores as [FakeStorage, FakeStorage, FakeStorage]
    const batches = chainOf(times(1, 100), { perBatch: 7 })
    for (const store of [one, two]) store.add(...batches)
    const far = at(2 ** 48 - 1)
    liar.script = ({ requestId }, reply) => {
      reply({ type: 'resendStart', requestId, from: far, to: far, count: 10 })
      then(() => reply({ ...end, requestId }))
    }
    const messages = await net.turn(collect(client.resend(streamId, { last: 10 })))
    expect(contents(messages)).toEqual(texts('a', times(91, 100)))
    expect(failures(seen)[0]).toBe(code)
    const heard: unknown[] = []
    const onMessage = ({ content }: Message) => void heard.push(content)
    const subscription = await net.turn(client.subscribe(streamId, { resend: { last: 10 } }, onMessage))
    await net.turn(subscription.caughtUp())
    expect(heard).toEqual(texts('a', times(91, 100)))
  })

  it('is one of most that lie about where the last begin hides nothing either', async () => {
    const { client, stores, seen } = await setUp(['one', 'liar', 'other'])
    const [one, ...liars] = stores as [FakeStorage, ...FakeStorage[]]
    one.add(...chainOf(times(1, 100), { perBatch: 7 }))
    // What they send is signed by who may not publish: no failure, and yet no proof.
    const worthless = chainOf(times(1_001, 1_010), { publisher: 'mallory', chainId: 'm' })
    for (const liar of liars) liar.add(...worthless)
    const messages = await net.turn(collect(client.resend(streamId, { last: 10 })))
    expect(contents(messages)).toEqual(texts('a', times(91, 100)))
    expect(failures(seen)).toEqual([])
    expect(one.asked).toHaveLength(2)
  })

  it('fell behind makes no gap of what is before the last that were asked for', async () => {
    const { client, stores, seen } = await setUp(['one', 'behind'])
    const [one, behind] = stores as [FakeStorage, FakeStorage]
    const batches = chainOf(times(1, 100))
    one.add(...batches)
    behind.add(...batches.slice(0, 50))
    const messages = await net.turn(collect(client.resend(streamId, { last: 10 })))
    expect(contents(messages)).toEqual(texts('a', times(91, 100)))
    expect(seen.filter(({ type }) => type === 'gap')).toEqual([])
  })

  it('was busy for a moment is asked again', async () => {
    const { client, stores, seen } = await setUp(['one'])
    const [store] = stores as [FakeStorage]
    store.add(...genuine)
    store.script = (request, reply) => {
      store.script = undefined
      reply({ ...end, requestId: request.requestId, code: 'TOO_MANY_REQUESTS' })
    }
    expect(await net.turn(collect(client.resend(streamId, { from: 0 })))).toHaveLength(20)
    expect(failures(seen)).toEqual([])
  })

  it('sends what nobody may publish only makes a status of it', async () => {
    const { client, stores, seen } = await setUp(['one'])
    stores[0]?.add(...genuine, ...chainOf(times(1, 20), { publisher: 'mallory', chainId: 'm' }))
    const messages = await net.turn(collect(client.resend(streamId, { from: 0 })))
    expect(contents(messages)).toEqual(texts('a', times(1, 20)))
    expect(seen.filter(({ type }) => type === 'history-denied')).toHaveLength(20)
    expect(client.counters()['resendDenied']).toBe(20)
  })

  it('alone sends what a publisher signed whose permission has ended is not believed, unless it is the only one', async () => {
    const known = chainOf(times(1, 10), { publisher: 'erin', chainId: 'e' })
    const slipped = chainOf([11], { publisher: 'erin', chainId: 'e', previous: at(10) })
    const { client, stores, seen } = await setUp(['one', 'two', 'three'])
    stores[0]?.add(...known)
    stores[1]?.add(...known, ...slipped)
    stores[2]?.add(...known.slice(0, 5))
    const messages = await net.turn(collect(client.resend(streamId, { from: 0 })))
    expect(contents(messages)).toEqual(texts('e', times(1, 10)))
    expect(seen.filter(({ type }) => type === 'history-denied')).toHaveLength(1)
    await net.stop()

    const alone = await setUp(['one'])
    alone.stores[0]?.add(...known, ...slipped)
    const all = await net.turn(collect(alone.client.resend(streamId, { from: 0 })))
    expect(contents(all)).toEqual(texts('e', times(1, 11)))
  })

  it('alone denies nothing of what others have with a batch that begins among it and ends after the permission', async () => {
    const known = chainOf(times(1, 10), { publisher: 'erin', chainId: 'e' })
    // The permission ends at 1,000.
    const [across] = chainOf([1, 5, 1_001], { publisher: 'erin', chainId: 'e', perBatch: 3 })
    const { client, stores } = await setUp(['one', 'two', 'three'])
    if (across !== undefined) stores[0]?.add(across)
    stores[1]?.add(...known)
    stores[2]?.add(...known)
    const messages = await net.turn(collect(client.resend(streamId, { from: 0 })))
    expect(contents(messages)).toEqual(texts('e', times(1, 10)))
  })

  it('has another message of the same place than another makes no difference: one of them counts', async () => {
    const [one] = chainOf([5])
    const [other] = chainOf([5], { contentBytes: 30 })
    if (one === undefined || other === undefined) throw new Error('two batches')
    const winner = contradictionOf(one, other)?.winner.messages[0]?.content
    for (const order of [
      [one, other],
      [other, one],
    ]) {
      const { client, stores } = await setUp(['one', 'two'])
      order.forEach((batch, i) => stores[i]?.add(batch))
      const messages = await net.turn(collect(client.resend(streamId, { from: 0 })))
      expect(messages.map(({ content }) => content)).toEqual([new TextDecoder().decode(winner)])
      await net.stop()
    }
  })

  it('sends without end what it may not is stopped before it fills the memory', async () => {
    const { client, stores, seen } = await setUp(['one'])
    const big = chainOf(times(1, 60), { contentBytes: 1_000_000 })
    if (stores[0])
      stores[0].script = ({ requestId }, reply) => {
        reply({ ...start, requestId })
        dataOf(big).forEach((answer, i) => net.clock.schedule(i * 10, () => reply({ ...answer, requestId })))
      }
    const reading = client.resend(streamId, { from: 0 })
    await net.turn(reading.next())
    await net.turn(new Promise<void>((resolve) => net.clock.schedule(1_000, resolve)))
    const code = net.turn(collect(reading)).then(
      () => 'fine',
      (error: unknown) => (error as RunnelError).code,
    )
    expect(await code).toBe('RESEND_FAILED')
    expect(failures(seen)).toEqual(['RESEND_INVALID_ANSWER'])
  })
})

describe('waitForStorage', () => {
  const place = {
    ...parseStreamPartId(`${streamId}#0`),
    ...at(5),
    publisherId: identityOf('alice').nodeId,
    messageChainId: 'a',
  }

  it('resolves when enough storage nodes have it', async () => {
    const { client, stores } = await setUp(['one', 'two', 'three'])
    if (stores[0]) stores[0].stored = () => 'NOT_STORED'
    await net.turn(client.waitForStorage(place, { count: 2 }))
    await net.turn(client.waitForStorage([place, { ...place, ...at(6) }]))
    const late = client.waitForStorage(place, { count: 3 })
    net.clock.schedule(2_000, () => {
      if (stores[0]) stores[0].stored = () => ''
    })
    await net.turn(late)
  })

  it('asks about many without asking too much at once', async () => {
    const { client, stores } = await setUp(['one'])
    const asked: number[] = []
    if (stores[0]) stores[0].stored = ({ timestamp }) => (asked.push(timestamp), '')
    await net.turn(client.waitForStorage(times(1, 200).map((time) => ({ ...place, ...at(time) }))))
    expect(asked.toSorted((a, b) => a - b)).toEqual(times(1, 200))
  })

  it('says in time what is not stored, and where it cannot be', async () => {
    const { client, stores } = await setUp(['one'])
    if (stores[0]) stores[0].stored = () => 'NOT_STORED'
    await expect(net.turn(client.waitForStorage(place, { timeoutMs: 3_000 }))).rejects.toMatchObject({
      code: 'NOT_STORED_IN_TIME',
      message: expect.stringContaining('NOT_STORED'),
    })
    await expect(net.turn(client.waitForStorage(place, { count: 2 }))).rejects.toMatchObject({
      code: 'NO_STORAGE_NODE',
    })
    await expect(net.turn(client.waitForStorage(place, { count: 0 }))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    const signal = AbortSignal.abort()
    await expect(net.turn(client.waitForStorage(place, { signal }))).rejects.toMatchObject({
      code: 'ABORTED',
    })
  })
})

/** A batch ends with its signature. */
function withSignature(bytes: Uint8Array, signature: Uint8Array): Uint8Array {
  const copy = bytes.slice()
  copy.set(signature, copy.length - signature.length)
  return copy
}
