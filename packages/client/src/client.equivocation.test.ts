import {
  buildBatch,
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  toStreamId,
  toStreamPartId,
} from '@runnel/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Clients, newAccount, nextStatus, startTracker } from './client.testkit.ts'
import type { MessageEquivocation } from './subscribe/equivocation.ts'
import type { Message } from './subscribe/message.ts'

const crypto = await loadCrypto()
const account = newAccount()
const streamId = toStreamId(`${account.nodeId}/split`)
const streamPartId = toStreamPartId(streamId, 0)
let clients: Clients
let stopTracker: () => Promise<void>

beforeAll(async () => {
  const tracker = await startTracker()
  stopTracker = () => tracker.stop()
  const permissions = [
    { user: account.nodeId, publish: true },
    { user: 'public' as const, subscribe: true },
  ]
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [{ id: streamId, permissions }],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})

afterAll(async () => {
  await clients.closeAll()
  await stopTracker()
})

it('tells subscribers of a publisher that signs two messages for one place, with both of them', async () => {
  const chain = { streamId, partition: 0, publisherId: account.nodeId, messageChainId: 'split' }
  const identity = createIdentity(parsePrivateKey(account.privateKey), crypto)
  const timestamp = Date.now()
  const signed = (content: number) => {
    const place = { timestamp, sequenceNumber: 0, previous: undefined }
    const kind = { contentType: 0, encryptionType: 0, groupKeyId: '' }
    return buildBatch(
      { chain, messages: [{ ...place, ...kind, content: new Uint8Array([content]) }] },
      crypto,
      identity,
    )
  }
  const batches = [signed(1), signed(2)] as const
  const subscriber = await clients.create()
  const told: MessageEquivocation[] = []
  const subscription = await subscriber.subscribe(streamId, { onEquivocation: (one) => told.push(one) })
  const [left, right] = [await clients.create(), await clients.create()]
  for (const { network } of [left, right]) network.join(streamPartId)
  await subscription.waitForNeighbours({ count: 2 })
  const status = nextStatus(subscriber, 'equivocation')
  left.network.publish(batches[1])
  right.network.publish(batches[0])
  expect(await status).toMatchObject({
    streamPartId,
    publisherId: account.nodeId,
    messageChainId: 'split',
    place: { timestamp, sequenceNumber: 0 },
    winner: batches[0]?.bytes,
    loser: batches[1]?.bytes,
  })
  expect(told).toHaveLength(1)
  const message = (await subscription[Symbol.asyncIterator]().next()) as IteratorYieldResult<Message>
  const { delivered } = told[0] ?? {}
  expect(message.value.content).toEqual(new Uint8Array([delivered === 'winner' ? 1 : 2]))
  expect(subscriber.network.metrics().counters['data.equivocations']).toBe(1)
})
