import { toNodeId, toStreamId, type NodeId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { expect, it, onTestFinished, vi } from 'vitest'
import { clientError } from '../errors.ts'
import type { UndecodableMessage } from '../content/undecodable-message.ts'
import type { Message } from '../subscribe/message.ts'
import type { Subscription } from '../subscribe/subscription.ts'
import { ReaderCore } from './core/reader-core.ts'
import { Share } from './core/share.ts'
import { DurableReader, type DurableReaderModules } from './durable-reader.ts'

const [me, other] = ['1', '2'].map((digit) => toNodeId(`0x${digit.repeat(40)}`)) as [NodeId, NodeId]
const streamId = toStreamId(`${me}/read`)
const messageIn = (messageChainId: string, timestamp: number) =>
  ({ ...{ partition: 0, publisherId: me, messageChainId }, ...{ timestamp, sequenceNumber: 0 } }) as Message

/** A reader of these messages, with a store that has nothing. */
function readerOf(
  messages: Iterable<Message> | AsyncIterable<Message>,
  readable: DurableReaderModules['readable'] = async () => ({ partitions: 1 }),
  modules: Partial<DurableReaderModules> = {},
) {
  const share = new Share(me, 'chain')
  const core = new ReaderCore<Message>(
    { generation: 0, floorMs: 0, chains: [] },
    { ackWaitMs: 3_600_000, maxInFlight: 1, maxDeliveries: Infinity, maxChains: 100, maxRanges: 100 },
    { isMine: (message, tag) => share.isMine(message, tag) },
  )
  const ending = new AbortController()
  const write = vi.fn(async () => ({ bytes: 0 }))
  const reader = new DurableReader(
    { streamId, name: 'work', autoAck: false, maxLateMs: 1_000_000, partitions: 1, isNew: true },
    {
      ...{ clock: systemClock, core, share, ending, groupOf: undefined, listeners: {} },
      ...{ tagOf: ({ messageChainId }) => messageChainId, say: () => {}, onClosed: () => {}, readable },
      store: { load: async () => [], listen: () => () => {}, write },
      read: async function* () {
        yield* messages
      },
      subscribe: () => new Promise(() => {}),
      ...modules,
    },
  )
  onTestFinished(() => reader.close())
  return { reader, share, core, write, signal: ending.signal }
}

it('goes on when all that it held became another member’s', async () => {
  const share = new Share(me, 'chain')
  share.others = [other]
  const chains = Array.from({ length: 50 }, (_, i) => `chain-${i}`)
  const [mine, theirs] = [true, false].map((isMine) =>
    chains.find((id) => share.isMine(messageIn(id, 1), id) === isMine),
  ) as [string, string]
  const { reader, core, share: shared, signal } = readerOf([messageIn(theirs, 10), messageIn(mine, 20)])
  await reader.start(signal)
  await vi.waitFor(() => expect(core.hasRoom).toBe(false))
  // Somebody comes while the message waits to be taken.
  shared.others = [other]
  const { value } = await reader[Symbol.asyncIterator]().next()
  expect(value?.messageChainId).toBe(mine)
})

it('writes nothing more, and so joins no stream part again, once its right is found to have ended', async () => {
  const readable = () => Promise.reject(clientError('NO_SUBSCRIBE_PERMISSION'))
  const { reader, write, signal } = readerOf([], readable)
  await expect(reader.start(signal)).rejects.toThrow()
  await expect(reader[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'NO_SUBSCRIBE_PERMISSION',
  })
  expect(write).not.toHaveBeenCalled()
})

it('delivers what history brings after newer messages, though these are done and stored', async () => {
  const filled = Promise.withResolvers<void>()
  const history = async function* () {
    yield messageIn('newer', 2_000)
    await filled.promise
    yield messageIn('filled', 1_000)
    yield messageIn('newer', 3_000)
  }
  const { reader, write, signal } = readerOf(history())
  await reader.start(signal)
  const messages = reader[Symbol.asyncIterator]()
  const taken = [await messages.next()]
  taken[0]?.value?.ack()
  await reader.flush()
  expect(write).toHaveBeenCalledTimes(2)
  filled.resolve()
  taken.push(await messages.next())
  expect(taken.map(({ value }) => value?.timestamp)).toEqual([2_000, 1_000])
})

it.each([
  ['is done that nobody could decode', 'INVALID_JSON_CONTENT', true],
  ['is not done of which this process has not the key', 'READING_KEY_CHANGED', false],
  ['is not done while the registry does not answer', 'CHAIN_UNREACHABLE', false],
] as const)('a message %s', async (_, code, isDone) => {
  const [unread] = [messageIn('chain', 1_000)]
  const found = {
    ...{ streamPartId: `${streamId}#0`, publisherId: me, messageChainId: 'chain', ref: unread },
    ...{ keyId: undefined, error: clientError(code) },
  } as unknown as UndecodableMessage
  const told = vi.fn()
  const said = vi.fn()
  const read: DurableReaderModules['read'] = async function* (_selection, listeners) {
    listeners?.onUndecodable(found)
  }
  const { reader, core, signal } = readerOf([], undefined, {
    ...{ read, say: said, listeners: { onUndecodable: told } },
  })
  await reader.start(signal)
  await vi.waitFor(() => expect(told.mock.calls.length + said.mock.calls.length).toBeGreaterThan(0))
  expect(core.knows('chain', unread)).toBe(isDone)
  expect(said.mock.calls).toEqual(isDone ? [] : [[{ state: 'failed', error: found.error }]])
})

it('stores where it was put, as what it wrote at that moment may have taken the place of that', async () => {
  const heard: Parameters<DurableReaderModules['store']['listen']>[0][] = []
  const write = vi.fn<DurableReaderModules['store']['write']>(async () => ({ bytes: 0 }))
  const store: DurableReaderModules['store'] = {
    ...{ load: async () => [], write },
    listen: (onCursor) => (heard.push(onCursor), () => {}),
  }
  const { reader, signal } = readerOf([], undefined, { store })
  await reader.start(signal)
  const put = { generation: 1, floorMs: 500, chains: [] }
  for (const hear of heard) hear(put)
  await vi.waitFor(() => expect(write.mock.lastCall?.[0]).toEqual(put), 5_000)
})

it.each([NaN, Infinity, -1])(
  'refuses a delay of %s, after which no message would be given again',
  async (delayMs) => {
    const { reader, signal } = readerOf([messageIn('chain', 10)])
    await reader.start(signal)
    const messages = reader[Symbol.asyncIterator]()
    const { value } = await messages.next()
    expect(() => value?.nack({ delayMs })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
    value?.nack()
    expect((await messages.next()).value?.deliveries).toBe(2)
  },
)

it('reads partitions that the stream gets as soon as the registry says so, from where all is done on', async () => {
  let partitions = 1
  const subscribed: number[] = []
  const subscribe = async () => {
    subscribed.push(partitions)
    const { promise: ended, resolve: unsubscribe } = Promise.withResolvers<void>()
    const subscription = {
      caughtUp: () => new Promise<void>(() => {}),
      unsubscribe: async () => unsubscribe(),
      async *[Symbol.asyncIterator]() {
        await ended
      },
    }
    return subscription as Partial<Subscription> as Subscription
  }
  const { reader, signal } = readerOf([], async () => ({ partitions }), { subscribe })
  await reader.start(signal)
  await vi.waitFor(() => expect(subscribed).toEqual([1]))
  await reader.look()
  partitions = 4
  await reader.look()
  await vi.waitFor(() => expect(subscribed).toEqual([1, 4]))
})

it('is told to end, and does when its message is acknowledged, also where nobody asks for the next', async () => {
  const { reader, signal } = readerOf([messageIn('chain', 10)])
  await reader.start(signal)
  const { value } = await reader[Symbol.asyncIterator]().next()
  reader.end()
  expect(signal.aborted).toBe(false)
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve())
  value?.ack()
  await ended
})
