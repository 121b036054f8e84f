import type { Message, RunnelClient, SubscribeOptions, UndecodableMessage } from '@runnel/client'
import { clientError } from '@runnel/client'
import { toNodeId, toStreamId, toStreamPartId, type RunnelError } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { leftOutFields } from './left-out-fields.ts'
import { StreamReader } from './stream-reader.ts'

const publisherId = toNodeId(`0x${'1'.repeat(40)}`)
const streamId = toStreamId(`${publisherId}/a`)
const place = { streamId, partition: 0, publisherId, messageChainId: 'c' }
const messageAt = (timestamp: number) =>
  ({ ...place, timestamp, sequenceNumber: 0, content: timestamp }) as unknown as Message
const leftOutAt = (timestamp: number): UndecodableMessage => ({
  ...{ streamPartId: toStreamPartId(streamId, 0), publisherId, messageChainId: 'c', keyId: undefined },
  ...{ ref: { timestamp, sequenceNumber: 0 }, error: clientError('NO_READING_KEY') },
})

/** A reader of a client that gives what it is told to. */
async function start(cursor?: string) {
  const said: unknown[] = []
  const rooms: (() => void)[] = []
  let given: SubscribeOptions = {}
  let give = (_message: Message): unknown => undefined
  const client = {
    subscribe: async (_id: string, options: SubscribeOptions, onMessage: (message: Message) => unknown) => {
      given = options
      give = onMessage
      return { caughtUp: async () => {}, unsubscribe: async () => {}, counters: () => ({ dropped: 0 }) }
    },
  } as unknown as Pick<RunnelClient, 'subscribe'>
  const sink = {
    frame: (message: Message) => ({ frame: message.content, bytes: 1 }),
    send: (frame: unknown) => void said.push(frame),
    undecodable: (last: UndecodableMessage, count: number) => {
      said.push([last.ref.timestamp, count])
      return new Promise<void>((resolve) => rooms.push(resolve))
    },
    ...{ gap: () => {}, lost: () => {}, ended: (error: unknown) => void said.push(error) },
  }
  const reader = new StreamReader({ streamId, cursor }, { client, sink, clock: { now: () => 1_000 } })
  await reader.start()
  const leaveOut = (timestamp: number) => given.onUndecodable?.(leftOutAt(timestamp))
  return {
    reader,
    said,
    leaveOut,
    endWith: (error: RunnelError) => given.onEnded?.(error),
    give: (timestamp: number) => give(messageAt(timestamp)),
    takes: () => rooms.shift()?.(),
  }
}

it('tells a reader what is left out, as fast as it takes that, and not again with its cursor', async () => {
  const { reader, said, leaveOut, give, takes } = await start()
  for (const timestamp of [1_001, 1_002, 1_003]) leaveOut(timestamp)
  give(1_004)
  expect(said).toEqual([[1_001, 1], 1_004])
  takes()
  await expect.poll(() => said.slice(2)).toEqual([[1_003, 2]])
  const next = await start(reader.cursor)
  next.leaveOut(1_003)
  next.leaveOut(1_005)
  expect(next.said).toEqual([[1_005, 1]])
})

it('tells how many, the place of the last, and why', () => {
  expect(leftOutFields(leftOutAt(5), 2)).toMatchObject({
    count: 2,
    last: { ...place, timestamp: 5, sequenceNumber: 0 },
    problem: { code: 'NO_READING_KEY', remedy: expect.any(String) },
  })
})

it('ends with the reason where its user may not read any more', async () => {
  const { said, give, endWith } = await start()
  const error = clientError('NO_SUBSCRIBE_PERMISSION')
  endWith(error)
  give(1_001)
  expect(said).toEqual([error])
})
