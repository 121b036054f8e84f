import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import {
  buildBatch,
  cardPublicKeyBytes,
  createIdentity,
  decodeBatch,
  generatePrivateKey,
  keyPartition,
  loadCrypto,
  signCard,
  toHex,
  toNodeId,
  toStreamId,
  toStreamPartId,
  type Card,
  type CardClaim,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { storagePlugin } from '@runnel/storage'
import { createTracker } from '@runnel/tracker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'

const crypto = await loadCrypto()
const newIdentity = () => {
  const key = generatePrivateKey(systemRandom)
  return { privateKey: toHex(key), ...createIdentity(key, crypto) }
}
const [owner, publisher, reader, stranger] = [newIdentity(), newIdentity(), newIdentity(), newIdentity()]
const storageIdentities = [newIdentity(), newIdentity()]
const stream = toStreamId(`${owner.nodeId}/sealed`)
const keyPart = toStreamPartId(stream, keyPartition)

function cardOf(identity: typeof owner, changes: Partial<CardClaim> = {}): Card {
  const publicKey = systemRandom.bytes(cardPublicKeyBytes)
  const claim = { chainId: 0, userId: identity.nodeId, generation: 1, dateMs: 1_000, block: 0, publicKey }
  return signCard({ ...claim, ...changes }, crypto, identity)
}

const noLog = () => {}
const quietLogger = { debug: noLog, info: noLog, warn: noLog, error: noLog }

describe('storage nodes on real sockets', { timeout: 60_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-keys-'))
  const stops: (() => Promise<unknown>)[] = []
  const urls: string[] = []
  let network: { readonly kind: 'static'; readonly document: StaticNetwork }

  beforeAll(async () => {
    const tracker = createTracker(
      { listen: { port: 0 } },
      { identity: newIdentity(), crypto, clock: systemClock, random: systemRandom },
    )
    await tracker.start()
    stops.push(() => tracker.stop())
    while (urls.length < storageIdentities.length) urls.push(`ws://127.0.0.1:${await freePort()}`)
    const storageNodes = storageIdentities.map(({ nodeId }, i) => ({ nodeId, url: urls[i] ?? '' }))
    const permissions = [
      { user: publisher.nodeId, publish: true },
      { user: reader.nodeId, subscribe: true },
    ]
    const document: StaticNetwork = {
      version: 1,
      trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
      // One keeps the stream; the other is in the network for another one.
      streams: [
        { id: stream, permissions, storageNodes: storageNodes.slice(0, 1) },
        { id: `${owner.nodeId}/other`, storageNodes: storageNodes.slice(1) },
      ],
    }
    network = { kind: 'static', document }
    for (const [i, { privateKey }] of storageIdentities.entries()) {
      const port = Number(new URL(urls[i] ?? '').port)
      const client = await createClient({
        ...{ network, nodePrivateKey: privateKey },
        transports: { websocket: { listen: { host: '127.0.0.1', port } }, webrtc: false },
      })
      const plugin = storagePlugin.create(storagePlugin.schema.parse({ directory: join(directory, `${i}`) }))
      await plugin.start({ client, logger: quietLogger })
      stops.push(() => client.close())
      stops.push(() => plugin.stop())
    }
  }, 60_000)

  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop()
    rmSync(directory, { recursive: true })
  })

  async function clientOf({ privateKey }: typeof owner): Promise<RunnelClient> {
    const client = await createClient({ network, privateKey, transports: { websocket: {}, webrtc: false } })
    stops.push(() => client.close())
    return client
  }

  it('keep cards for everybody, and give the newest to everybody', async () => {
    const [mine, theirs] = [await clientOf(reader), await clientOf(stranger)]
    const info = await mine.getStream(stream)
    const first = cardOf(reader)
    // Both: one for the stream, both by their places.
    expect(await mine.cards.put(first, info)).toBe(2)
    expect(await mine.cards.put(first)).toBe(2)
    const of = (client: RunnelClient, ...of: (typeof owner)[]) =>
      client.cards.cardsOf(
        of.map(({ nodeId }) => nodeId),
        info,
      )
    expect(await of(theirs, reader, owner)).toEqual(new Map([[reader.nodeId, first]]))
    const next = cardOf(reader, { generation: 2 })
    await mine.cards.put(next)
    // What was looked up lately is used again.
    expect([...(await of(theirs, reader)).values()]).toEqual([first])
    expect([...(await of(await clientOf(stranger), reader)).values()]).toEqual([next])
    await expect(mine.cards.put(first)).rejects.toMatchObject({ code: 'CARD_OLDER_GENERATION' })
    const older = cardOf(reader, { generation: 2, dateMs: 999 })
    await expect(mine.cards.put(older, info)).rejects.toMatchObject({ code: 'CARD_REPLAYED' })
  })

  it('take no card that somebody else signed, that is for another chain, or that needs one', async () => {
    const client = await clientOf(stranger)
    const refused = async (card: Card, code: string) => {
      const refusal = { code: 'CARD_NOT_KEPT', message: expect.stringContaining(code) as string }
      await expect(client.cards.put(card)).rejects.toMatchObject(refusal)
    }
    await refused({ ...cardOf(stranger), userId: owner.nodeId }, 'not signed by its user')
    await refused(cardOf(owner, { chainId: 5 }), 'another chain')
    await refused(cardOf(owner, { dateMs: Date.now() + 3_600_000 }), 'in the future')
    await refused({ ...cardOf(stranger), userId: owner.nodeId, block: 7 }, 'CONTRACT_NEEDS_CHAIN')
    expect(await client.cards.cardsOf([owner.nodeId])).toEqual(new Map())
  })

  it('find the cards of more users than one ask takes', async () => {
    const client = await clientOf(stranger)
    const users = Array.from({ length: 10 }, newIdentity)
    for (const user of users) await client.cards.put(cardOf(user))
    const ids = Array.from({ length: 150 }, (_, i) => (users[i % 15] ?? newIdentity()).nodeId)
    const found = await (await clientOf(stranger)).cards.cardsOf(ids)
    expect([...found.keys()].toSorted()).toEqual(users.map(({ nodeId }) => nodeId).toSorted())
  })

  /** One message, alone in its chain, in the key part. */
  async function publishRecord(client: RunnelClient, signer: typeof owner, messageChainId: string) {
    const content = new TextEncoder().encode(messageChainId)
    const message = { timestamp: Date.now(), sequenceNumber: 0, previous: undefined, content }
    const chain = { streamId: stream, partition: keyPartition, publisherId: signer.nodeId, messageChainId }
    const header = { contentType: 0, encryptionType: 0, groupKeyId: '' }
    const batch = buildBatch({ chain, messages: [{ ...message, ...header }] }, crypto, signer)
    await client.network.waitForNeighbours(keyPart)
    client.network.publish(batch)
    await client.waitForStorage({ ...chain, ...message })
    return batch
  }

  it('keep the key part, in which readers publish and publishers read, and strangers do neither', async () => {
    const [publishes, reads, neither] = [
      await clientOf(publisher),
      await clientOf(reader),
      await clientOf(stranger),
    ]
    await expect(publishes.publish(stream, 'x', { partition: keyPartition })).rejects.toMatchObject({
      code: 'PARTITION_OUT_OF_RANGE',
    })
    for (const client of [publishes, reads, neither]) await client.joinStreamPart(stream, keyPartition)
    const heard = new Promise<string>((resolve) => {
      publishes.network.on('batch', (id, { chain }) => {
        if (id === keyPart && chain.publisherId === reader.nodeId) resolve(chain.messageChainId)
      })
    })
    await publishRecord(publishes, publisher, 'lAAAA')
    const request = await publishRecord(reads, reader, 'r')
    expect(await heard).toBe('r')
    const storageId = toNodeId(storageIdentities[0]?.nodeId ?? '')
    const endOfTime = { timestamp: 2 ** 48 - 1, sequenceNumber: 2 ** 32 - 1 }
    const range = { from: { timestamp: 0, sequenceNumber: 0 }, to: endOfTime, streamPartId: keyPart }
    const stored = async (client: RunnelClient, publisherId: string) => {
      const chains: string[] = []
      const signal = AbortSignal.timeout(10_000)
      const wanted = { ...range, publisherId: toNodeId(publisherId) }
      for await (const bytes of client.readStorageNode(storageId, wanted, signal))
        chains.push(decodeBatch(bytes).chain.messageChainId)
      return chains
    }
    expect(await stored(publishes, request.chain.publisherId)).toEqual(['r'])
    expect(await stored(reads, publisher.nodeId)).toEqual(['lAAAA'])
    await expect(stored(neither, publisher.nodeId)).rejects.toMatchObject({ code: 'RESEND_DENIED' })
  })
})
