import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  addressOf,
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  toStreamId,
  toStreamPartId,
} from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startStorage } from './client.storage.testkit.ts'
import { Clients, newAccount, nextStatus, startTracker, take } from './client.testkit.ts'
import type { StaticNetwork } from './index.ts'
import { editDocument, newDocument, type DocumentChange } from './registry/document/edit-document.ts'
import { signNetworkDocument, type NetworkDocument } from './registry/document/network-document.ts'
import { parseStaticNetwork } from './registry/static-network.ts'
import type { FakeStorage } from './resend/storage.testkit.ts'

const crypto = await loadCrypto()
const owner = newAccount()
const paths = ['a', 'b', 'c', 'd', 'e', 'f']
const streamIds = paths.map((path) => toStreamId(`${owner.nodeId}/kept/${path}`))
const streamParts = streamIds.map((id) => toStreamPartId(id, 0))

let tracker: Tracker
let storage: FakeStorage
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  storage = await startStorage(tracker, streamParts)
  const { nodeId, contact } = storage.node
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: streamIds.map((id) => ({
      id,
      storageNodes: [{ nodeId, url: addressOf(contact, 'websocket') ?? '' }],
      permissions: [
        { user: owner.nodeId, publish: true, subscribe: true },
        { user: 'public', subscribe: true },
      ],
    })),
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await storage.node.stop()
  await tracker.stop()
})

describe('a subscription to a prefix', () => {
  it('begins with the history of each stream, and loses none of it to a slow application', async () => {
    const publisher = await clients.create({ privateKey: owner.privateKey })
    const perStream = 20
    for (const id of streamIds) {
      const sent = []
      for (let n = 0; n < perStream; n++) sent.push(await publisher.publish(id, n))
      await publisher.waitForStorage(sent)
    }
    const reader = await clients.create()
    const subscription = await reader.subscribe<number>(`${owner.nodeId}/kept/#`, {
      ...{ resend: { last: perStream }, maxQueuedMessages: 10 },
    })
    const messages = await take(subscription, perStream * streamIds.length)
    await subscription.caughtUp()
    for (const id of streamIds) {
      const contents = messages.filter(({ streamId }) => streamId === id).map(({ content }) => content)
      expect(contents).toEqual(Array.from({ length: perStream }, (_, n) => n))
    }
    for (const id of streamIds) await publisher.publish(id, 'live')
    expect((await take(subscription, streamIds.length)).every(({ content }) => `${content}` === 'live')).toBe(
      true,
    )
    const expected = (perStream + 1) * streamIds.length
    expect(subscription.counters()).toMatchObject({ received: expected, delivered: expected, dropped: 0 })
  })

  it('follows a document that its owner signs', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'runnel-prefix-'))
    const file = join(directory, 'network.json')
    const identity = createIdentity(parsePrivateKey(owner.privateKey), crypto)
    const { nodeId, url } = tracker
    let document: NetworkDocument = newDocument(owner.nodeId, [{ nodeId, url }])
    const write = (...changes: DocumentChange[]) => {
      for (const change of changes) {
        const history = new Map(Object.entries(document.history))
        document = editDocument({ ...document, history }, change, 1_000)
      }
      writeFileSync(
        file,
        signNetworkDocument(document, identity, { crypto, parseNetwork: parseStaticNetwork }),
      )
    }
    const streamId = toStreamId(`${owner.nodeId}/rooms/1`)
    write()
    const ours = new Clients({
      network: { kind: 'document', owner: owner.nodeId, sources: [file] },
      registry: { pollIntervalMs: 20 },
    })
    const reader = await ours.create()
    const subscription = await reader.subscribe(`${owner.nodeId}/rooms/#`)
    expect(subscription.streamPartIds).toEqual([])
    const joined = nextStatus(reader, 'prefix', ({ state }) => state === 'joined')
    const grant = { user: 'public', permissions: ['subscribe'], untilMs: Infinity } as const
    write({ kind: 'add-stream', streamId, partitions: 1, metadata: '{}' }, { kind: 'grant', streamId, grant })
    expect(await joined).toMatchObject({ streamId })
    expect(subscription.streamPartIds).toEqual([`${streamId}#0`])
    const left = nextStatus(reader, 'prefix', ({ state }) => state === 'left')
    write({ kind: 'remove-stream', streamId })
    expect(await left).toMatchObject({ streamId, error: { code: 'STREAM_NOT_FOUND' } })
    expect(subscription.streamPartIds).toEqual([])
    await ours.closeAll()
    rmSync(directory, { recursive: true })
  })
})
