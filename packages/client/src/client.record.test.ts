import {
  addressOf,
  buildBatch,
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  toStreamId,
  toStreamPartId,
  urgentExtensionOf,
} from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startStorage } from './client.storage.testkit.ts'
import { Clients, newAccount, startTracker } from './client.testkit.ts'
import type { Message, RunnelClient, UndecodableMessage } from './index.ts'
import { encodeRecorded, recordingHeaders } from './record/recording-content.ts'
import { collect, type FakeStorage } from './resend/storage.testkit.ts'

const crypto = await loadCrypto()
const [owner, recorder, stranger] = [newAccount(), newAccount(), newAccount()]
const room = toStreamId(`${owner.nodeId}/room`)
const kept = toStreamId(`${owner.nodeId}/kept`)
/** Encrypted, without a storage node for its keys. */
const secret = toStreamId(`${owner.nodeId}/secret`)

let tracker: Tracker
let storage: FakeStorage
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  storage = await startStorage(tracker, [toStreamPartId(kept, 0)])
  const { nodeId, contact } = storage.node
  // Open, so that the storage node needs to keep no keys.
  const members = [
    ...[owner, recorder].map(({ nodeId: user }) => ({ user, publish: true, subscribe: true })),
    { user: 'public' as const, subscribe: true },
  ]
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      { id: room, permissions: members },
      { id: secret, permissions: [{ user: recorder.nodeId, subscribe: true }] },
      {
        ...{ id: kept, permissions: members },
        storageNodes: [{ nodeId, url: addressOf(contact, 'websocket') ?? '' }],
      },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await storage.node.stop()
  await tracker.stop()
})

const start = (account = newAccount()): Promise<RunnelClient> =>
  clients.create({ privateKey: account.privateKey })

const inRecording = (client: RunnelClient, onUndecodable?: (message: UndecodableMessage) => void) =>
  collect(client.resend(kept, { last: 1_000 }, { recording: true, onUndecodable }))

async function until(network: RunnelClient['network'], counter: string, count: number): Promise<void> {
  while (Number(network.metrics().counters[counter]) < count)
    await new Promise<void>((resolve) => {
      const stop = network.on('message', () => {
        stop()
        resolve()
      })
    })
}

describe('a recording', () => {
  it('gives what was published urgently, as it was signed, at its pace, and each once', async () => {
    const [camera, first, second] = [await start(owner), await start(recorder), await start(recorder)]
    const recordings = [await first.record(room, kept), await second.record(room, kept)]
    await camera.subscribe(room)
    // All see each other: nothing that is urgent is sent again.
    const part = toStreamPartId(room, 0)
    for (const { network } of [camera, first, second]) await network.waitForNeighbours(part, { count: 2 })
    // All know the publisher: while one asks the registry it drops what is urgent.
    await camera.publish(room, 'ordinary')
    for (const { network } of [first, second]) await until(network, 'data.messages', 1)
    const sent: object[] = []
    for (let object = 0; object < 20; object++) {
      const urgent = { lifetimeMs: 5_000, priority: 40, group: 3, object }
      const { timestamp } = await camera.publish(room, { object }, { urgent, headers: { kind: 'picture' } })
      sent.push({ timestamp, content: { object }, urgent: { ...urgent, order: 'oldest' } })
    }
    for (const recording of recordings) {
      const { network } = recording === recordings[0] ? first : second
      await until(network, 'urgent.messages', sent.length)
      await recording.stop()
      await recording.stop()
      expect([recording.recorded, recording.failed]).toEqual([sent.length, 0])
    }
    await first.waitForStorage(await first.publish(kept, 'in between'))
    const reader = await start(recorder)
    const messages = await inRecording(reader)
    expect(messages).toMatchObject(
      sent.map((message) => ({
        ...message,
        streamId: room,
        publisherId: owner.nodeId,
        headers: { kind: 'picture' },
      })),
    )
    const [times, sentAt] = [
      messages.map(({ recordedMs = 0 }) => recordedMs),
      messages.map((it) => it.timestamp),
    ]
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(times.every((recordedMs, i) => recordedMs >= (sentAt[i] ?? Infinity))).toBe(true)
    const played: Message[] = []
    for await (const message of reader.playback(kept, { last: 1_000 }, { recording: true, speed: 4 }))
      played.push(message)
    expect(played).toEqual(messages)
    // Nothing of it is in the stream itself.
    expect((await collect(reader.resend(kept, { last: 1_000 }))).length).toBeLessThan(sent.length)
  })

  it('has its end when the client closes', async () => {
    const [camera, witness] = [await start(owner), await start(recorder)]
    const recording = await witness.record(room, kept)
    await camera.subscribe(room)
    await camera.network.waitForNeighbours(toStreamPartId(room, 0))
    await camera.publish(room, 'ordinary')
    await until(witness.network, 'data.messages', 1)
    for (let object = 0; object < 3; object++)
      await camera.publish(room, { object }, { urgent: { lifetimeMs: 5_000, group: 0, object } })
    await until(witness.network, 'urgent.messages', 3)
    await witness.close()
    expect([recording.recorded, recording.failed]).toEqual([3, 0])
  })

  it('leaves out what its publisher did not sign, may not publish, or cannot be read', async () => {
    const writer = await start(recorder)
    const batchOf = (account: { privateKey: string }, sequenceNumber: number): Uint8Array => {
      const identity = createIdentity(parsePrivateKey(account.privateKey), crypto)
      const chain = { streamId: room, partition: 0, publisherId: identity.nodeId, messageChainId: '!made' }
      const fields = {
        lifetimeMs: 1_000,
        priority: 1,
        group: 0,
        object: sequenceNumber,
        order: 'oldest',
      } as const
      const message = {
        ...{ timestamp: Date.now(), sequenceNumber, previous: undefined, contentType: 2, encryptionType: 0 },
        ...{ groupKeyId: '', extensions: [urgentExtensionOf(fields)] },
        content: new TextEncoder().encode(`made ${sequenceNumber}`),
      }
      return buildBatch({ chain, messages: [message] }, crypto, identity).bytes
    }
    const good = batchOf(owner, 2)
    const forged = good.slice()
    forged[forged.length - 10] = (forged[forged.length - 10] ?? 0) ^ 1
    const batches = [Uint8Array.of(1, 2, 3), forged, batchOf(stranger, 3), good]
    const contents = [
      encodeRecorded({ delegations: [], batches }),
      Uint8Array.of(255),
      Uint8Array.of(0, 0, 0),
    ]
    const places = await Promise.all(
      contents.map((content) => writer.publish(kept, content, { headers: recordingHeaders })),
    )
    await writer.waitForStorage(places)
    const leftOut: string[] = []
    const messages = await inRecording(writer, ({ error }) => leftOut.push(error.code))
    expect(messages.map(({ content }) => content)).toContain('made 2')
    expect(messages.map(({ content }) => content)).not.toContain('made 3')
    expect(leftOut).toEqual(['BATCH_FORGED', 'NO_PUBLISH_PERMISSION'])
  })

  it('needs a subscriber who may publish, and storage nodes for what it is read with', async () => {
    const client = await start(stranger)
    await expect(client.record(room, kept)).rejects.toMatchObject({ code: 'NO_PUBLISH_PERMISSION' })
    const aborted = { signal: AbortSignal.abort() }
    await expect(client.record(room, kept, aborted)).rejects.toMatchObject({ code: 'ABORTED' })
    const member = await start(recorder)
    const controller = new AbortController()
    const recording = member.record(room, kept, { signal: controller.signal })
    controller.abort()
    await expect(recording).rejects.toMatchObject({ code: 'ABORTED' })
    expect(member.network.streamParts).toEqual([])
    await expect(member.record(room, kept, { partitions: [4] })).rejects.toMatchObject({
      code: 'PARTITION_OUT_OF_RANGE',
    })
    await expect(member.record(room, kept, { toPartition: 1 })).rejects.toMatchObject({
      code: 'PARTITION_OUT_OF_RANGE',
    })
    await expect(member.record(kept, room)).rejects.toMatchObject({ code: 'NO_STORAGE_NODE' })
    await expect(member.record(secret, kept)).rejects.toMatchObject({ code: 'RECORDING_UNREADABLE' })
    await expect(member.record(room, room)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
