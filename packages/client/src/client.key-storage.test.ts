import {
  addressOf,
  keyPartition,
  seededRandom,
  toHex,
  toNodeId,
  toStreamId,
  toStreamPartId,
  type Card,
  type NodeId,
} from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startStorage } from './client.storage.testkit.ts'
import { Clients, newAccount, startTracker } from './client.testkit.ts'
import { userOf } from './encryption/world.testkit.ts'
import type { FakeStorage } from './resend/storage.testkit.ts'

vi.mock('./encryption/hpke.ts', async (original) => {
  const { cachedHpke } = await import('./encryption/cached-hpke.testkit.ts')
  return cachedHpke(await original())
})

const owner = newAccount()
const streamId = toStreamId(`${owner.nodeId}/secret`)
const keyPartId = toStreamPartId(streamId, keyPartition)
const random = seededRandom('readers')
const readers = Array.from({ length: 3_000 }, () => toNodeId(toHex(random.bytes(20))))
const { card } = await userOf('anybody')
const cards = new Map<NodeId, Card>(readers.map((userId) => [userId, { ...card, userId }]))

let tracker: Tracker
let storage: FakeStorage
let clients: Clients
/** Chains of records that the storage node has. */
const kept = new Set<string>()

beforeAll(async () => {
  tracker = await startTracker()
  const answered = Promise.withResolvers<void>()
  let isKnown = false
  storage = await startStorage(tracker, [toStreamPartId(streamId, 0), keyPartId], {
    check: () => (isKnown ? 'allowed' : 'unknown'),
    resolve: () => answered.promise,
  })
  storage.node.on('batch', (_, { chain }) => kept.add(chain.messageChainId))
  storage.stored = ({ messageChainId }) => {
    // Its registry takes until it is asked for what the opener published.
    isKnown = true
    answered.resolve()
    return kept.has(messageChainId) ? '' : 'NOT_STORED'
  }
  const { nodeId, contact } = storage.node
  const permissions = readers.map((user) => ({ user, subscribe: true }))
  const stream = {
    id: streamId,
    storageNodes: [{ nodeId, url: addressOf(contact, 'websocket') ?? '' }],
    permissions: [{ user: owner.nodeId, publish: true, subscribe: true }, ...permissions],
  }
  const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
  clients = new Clients({
    network: { kind: 'static', document: { version: 1, trackers, streams: [stream] } },
  })
})
afterAll(async () => {
  await clients.closeAll()
  await storage.node.stop()
  await tracker.stop()
})

it('stores all links of an opener whose permission a storage node has to look up first', async () => {
  const cardsOf = async (ids: readonly NodeId[]) =>
    new Map(ids.flatMap((id) => (cards.has(id) ? [[id, cards.get(id) as Card] as const] : [])))
  const directory = { put: () => Promise.resolve(), cardsOf }
  const client = await clients.create({ privateKey: owner.privateKey }, { cards: directory })
  await client.publish(streamId, 'for thousands')
  expect(await client.rotateKeys(streamId)).toMatchObject({ readers: readers.length, isStored: true })
  const links = [...kept].filter((messageChainId) => messageChainId.startsWith('l'))
  expect(links).toHaveLength(readers.length)
}, 60_000)

it('waits for a message until it can be opened: its keys are stored', async () => {
  const cards = { put: () => Promise.resolve(), cardsOf: () => Promise.resolve(new Map()) }
  const client = await clients.create({ privateKey: owner.privateKey }, { cards })
  let isMessageStored = false
  let areKeysStored = false
  storage.stored = ({ streamPartId }) => {
    if (streamPartId !== keyPartId) isMessageStored = true
    else if (isMessageStored) areKeysStored = true
    return streamPartId !== keyPartId || areKeysStored ? '' : 'NOT_STORED'
  }
  await client.waitForStorage(await client.publish(streamId, 'for few'))
  expect(areKeysStored).toBe(true)
}, 60_000)
