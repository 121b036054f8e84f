import {
  generatePrivateKey,
  createIdentity,
  loadCrypto,
  toHex,
  toStreamId,
  type DelegationClaim,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, delegatedBy, newAccount, nextStatus, startTracker, take } from './client.testkit.ts'
import { keySigner, type RunnelClient } from './index.ts'

const crypto = await loadCrypto()
const aliceKey = generatePrivateKey(systemRandom)
const alice = createIdentity(aliceKey, crypto)
const privateKey = toHex(aliceKey)
const streamId = `${alice.nodeId}/own`
const other = `${alice.nodeId}/other`
const hourMs = 3_600_000

let tracker: Tracker
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  const permissions = [{ user: alice.nodeId, publish: true, subscribe: true }]
  // Who acts by delegation, and was given no reading key, reads nothing that is encrypted.
  const metadata = JSON.stringify({ encryption: { content: 'never' } })
  const streams = [streamId, other].map((id) => ({ id, permissions, metadata }))
  const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
  clients = new Clients({ network: { kind: 'static', document: { version: 1, trackers, streams } } })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

/** What a delegation file of Alice would hold. */
const delegated = (changes?: Partial<DelegationClaim>, signer = alice) => delegatedBy(alice, changes, signer)

/** One hears what the other publishes, and the other way round. */
async function talk(one: RunnelClient, two: RunnelClient, on = streamId): Promise<void> {
  const subscriptions = await Promise.all([one, two].map((client) => client.subscribe(on)))
  await Promise.all(subscriptions.map((subscription) => subscription.waitForNeighbours()))
  await one.publish(on, 'one')
  await two.publish(on, 'two')
  for (const subscription of subscriptions) {
    const heard = await take(subscription, 2)
    expect(heard.map(({ content }) => content).toSorted()).toEqual(['one', 'two'])
    expect(new Set(heard.map(({ publisherId }) => publisherId))).toEqual(new Set([alice.nodeId]))
    expect(new Set(heard.map(({ messageChainId }) => messageChainId)).size).toBe(2)
  }
}

describe('clients of one user', () => {
  it('work side by side with its key, each on a node of its own', async () => {
    const [one, two] = [await clients.create({ privateKey }), await clients.create({ privateKey })]
    expect([one.userId, two.userId, one.account]).toEqual([alice.nodeId, alice.nodeId, alice.nodeId])
    expect(new Set([one.nodeId, two.nodeId, alice.nodeId]).size).toBe(3)
    await talk(one, two)
  })

  it('work with its key and by delegation, and several by one', async () => {
    const delegation = delegated()
    const [one, two] = [await clients.create({ delegation }), await clients.create({ privateKey })]
    const three = await clients.create({ delegation })
    expect([one.userId, three.userId]).toEqual([alice.nodeId, alice.nodeId])
    await talk(one, two)
    await talk(three, one, other)
  })

  it('ask a signer for as much as they need', async () => {
    let asked = 0
    const key = keySigner(privateKey)
    const signer: typeof key = {
      ...key,
      signTypedData: (data, signal) => {
        asked++
        expect(data.message).toMatchObject({
          account: alice.nodeId,
          may: 'publish and read',
          streams: streamId,
        })
        return key.signTypedData(data, signal)
      },
    }
    const one = await clients.create({ signer, delegationRequest: { streams: [streamId] } })
    await talk(one, await clients.create({ privateKey }))
    expect(asked).toBe(1)
    await expect(one.publish(other, 1)).rejects.toMatchObject({ code: 'DELEGATION_SCOPE' })
  })

  it('are one with the node where there is no key', async () => {
    const client = await clients.create()
    expect(client.userId).toBe(client.nodeId)
  })
})

describe('a delegation', () => {
  const nowMs = Date.now()
  it.each([
    ['expired', 'DELEGATION_EXPIRED', delegated({ untilMs: nowMs - 1 })],
    ['not begun', 'DELEGATION_NOT_YET', delegated({ fromMs: nowMs + hourMs, untilMs: nowMs + 2 * hourMs })],
    ['for another chain', 'DELEGATION_OTHER_CHAIN', delegated({ chainId: 1 })],
    ['too broad', 'DELEGATION_TOO_BROAD', delegated({ untilMs: nowMs + 100 * 24 * hourMs })],
    ['forged', 'DELEGATION_FORGED', delegated({}, createIdentity(generatePrivateKey(systemRandom), crypto))],
    ['for another key', 'DELEGATION_NOT_YOURS', { ...delegated(), privateKey: newAccount().privateKey }],
    ['no delegation', 'UNSUPPORTED_VERSION', { ...delegated(), delegation: '0x77' }],
    ['no hexadecimal digits', 'INVALID_CONFIG', { ...delegated(), delegation: 'x' }],
  ])('that is %s is refused with %s', async (_, code, delegation) => {
    const refused = await clients.create({ delegation }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code })
    expect(String(refused)).not.toContain(delegation.privateKey.slice(2))
  })

  it('of others beside a key is refused', async () => {
    const both = { delegation: delegated(), privateKey }
    await expect(clients.create(both)).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })

  it('allows what it says, and nothing is sent otherwise', async () => {
    const denied = { code: 'DELEGATION_SCOPE', message: expect.stringContaining(alice.nodeId) }
    const publisher = await clients.create({
      delegation: delegated({ reads: false, streams: [toStreamId(streamId)] }),
    })
    await expect(publisher.publish(other, 1)).rejects.toMatchObject(denied)
    await expect(publisher.subscribe(streamId)).rejects.toMatchObject(denied)
    await expect(publisher.resend(streamId, { last: 1 }).next()).rejects.toMatchObject(denied)
    const reader = await clients.create({ delegation: delegated({ publishes: false }) })
    await expect(reader.publish(streamId, 1)).rejects.toMatchObject(denied)
    expect([publisher, reader].flatMap(({ network }) => network.streamParts)).toEqual([])
    const subscription = await reader.subscribe(streamId)
    await (await clients.create({ privateKey })).subscribe(streamId)
    await subscription.waitForNeighbours()
    await publisher.publish(streamId, 'heard')
    expect((await take(subscription, 1))[0]?.content).toBe('heard')
  })

  it('is no key to the registries', async () => {
    const client = await clients.create({ delegation: delegated() })
    expect(client.account).toBe(alice.nodeId)
    await expect(client.createStream({ path: 'mine' })).rejects.toMatchObject({ code: 'NO_USER_KEY' })
  })

  it('is said to end, and then nothing goes', async () => {
    const client = await clients.create({ delegation: delegated({ untilMs: Date.now() + 1_500 }) })
    const [ending, expired] = (['ending', 'expired'] as const).map((wanted) =>
      nextStatus(client, 'delegation', ({ state }) => state === wanted),
    )
    expect((await ending)?.leftMs).toBeGreaterThan(0)
    expect(await expired).toMatchObject({ leftMs: 0 })
    for (const refused of [client.publish(streamId, 1), client.subscribe(streamId)])
      await expect(refused).rejects.toMatchObject({ code: 'DELEGATION_EXPIRED' })
  })

  it('does not cover messages from before it', async () => {
    const client = await clients.create({ delegation: delegated({ fromMs: Date.now() - 1_000 }) })
    const early = client.publish(streamId, 1, { timestamp: Date.now() - 60_000 })
    await expect(early).rejects.toMatchObject({ code: 'DELEGATION_NOT_YET' })
  })
})

it('a node gives in to a newer one with its key, and says so', async () => {
  const nodePrivateKey = newAccount().privateKey
  const older = await clients.create({ privateKey, nodePrivateKey })
  const replaced = nextStatus(older, 'replaced')
  const connected = nextStatus(older, 'tracker')
  await older.subscribe(streamId)
  await connected
  const newer = await clients.create({ privateKey, nodePrivateKey })
  await newer.subscribe(streamId)
  expect((await replaced).error).toMatchObject({ code: 'NODE_REPLACED' })
  for (const refused of [
    older.publish(streamId, 1),
    older.subscribe(streamId),
    older.resend(streamId, { last: 1 }).next(),
  ])
    await expect(refused).rejects.toMatchObject({ code: 'NODE_REPLACED' })
  await talk(newer, await clients.create({ privateKey }))
})
