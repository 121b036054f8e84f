import {
  createIdentity,
  delegationRef,
  loadCrypto,
  parsePrivateKey,
  toStreamId,
  toStreamPartId,
  type BatchSigner,
  type DelegationClaim,
  type Identity,
  type StreamMessage,
} from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Clients, delegatedBy, newAccount, nextStatus, startTracker, take } from './client.testkit.ts'
import type { RunnelClient } from './index.ts'
import { encodeReply, encodeReplyContent, replyInfo } from './request/reply-message.ts'
import { newReplySealer } from './request/reply-suite.ts'
import { requestHeader, requestTagIn, type RequestTag } from './request/request-header.ts'
import { publishAlone } from './side/publish-alone.ts'

const [owner, reader, writer] = [newAccount(), newAccount(), newAccount()]
const open = toStreamId(`${owner.nodeId}/open`)
const secret = toStreamId(`${owner.nodeId}/secret`)
/** For members, and yet in the clear. */
const clear = toStreamId(`${owner.nodeId}/clear`)
const crypto = await loadCrypto()

let tracker: Tracker
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  const members = [owner, reader].map(({ nodeId }) => ({ user: nodeId, publish: true, subscribe: true }))
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      {
        id: open,
        permissions: [
          ...members,
          { user: writer.nodeId, publish: true },
          { user: 'public' as const, subscribe: true },
        ],
      },
      { id: secret, permissions: [...members, { user: writer.nodeId, publish: true }] },
      {
        ...{ id: clear, metadata: JSON.stringify({ encryption: { content: 'never' } }) },
        permissions: [...members, { user: writer.nodeId, publish: true }],
      },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

const start = ({ privateKey } = owner) => clients.create({ privateKey })
const identityOf = ({ privateKey }: typeof owner) => createIdentity(parsePrivateKey(privateKey), crypto)

/** A client that acts for a user, and what signs in its place. */
async function startDelegate(user: Identity, claim: Partial<DelegationClaim>) {
  const made = delegatedBy(user, claim)
  const bytes = Buffer.from(made.delegation.replace('0x', ''), 'hex')
  const { sign } = createIdentity(parsePrivateKey(made.privateKey), crypto)
  const signer: BatchSigner = { sign, delegationRef: delegationRef(bytes, crypto) }
  return { client: await clients.create({ delegation: made }), signer }
}

/** How a reply differs from an honest one. */
interface Forgery {
  readonly sealer?: typeof owner
  readonly signer?: BatchSigner
  readonly from?: RunnelClient
}

/** What a client hears of replies, as it travels. */
function repliesAt(client: RunnelClient): StreamMessage[] {
  const heard: StreamMessage[] = []
  client.network.on('message', ({ message }) => {
    if (message.messageChainId.startsWith('~r')) heard.push(message)
  })
  return heard
}

describe('a request', () => {
  it('is answered by who responds, for who asked alone, and is a message to all others', async () => {
    const [asker, responder, other] = [await start(owner), await start(reader), await start(newAccount())]
    const subscription = await other.subscribe(open)
    const overheard = repliesAt(other)
    await other.joinStreamPart(open, 100)
    await responder.respond(open, ({ content, publisherId }) => ({ sum: content, publisherId }))
    await other.network.waitForNeighbours(toStreamPartId(open, 100))
    const taken = take(subscription, 1)
    const reply = await asker.request(open, [1, 2], { headers: { trace: 'a' } })
    expect(reply).toMatchObject({
      ...{ publisherId: responder.userId, contentType: 'json', headers: {} },
      content: { sum: [1, 2], publisherId: asker.userId },
    })
    const [message] = await taken
    expect(message).toMatchObject({ content: [1, 2], headers: { trace: 'a' } })
    expect(message?.headers[requestHeader]).toHaveLength(66)
    await expect.poll(() => overheard.length).toBe(1)
    expect(Buffer.from(overheard[0]?.content ?? []).includes('sum')).toBe(false)
  })

  it('works in an encrypted stream, of which others cannot tell what is a request', async () => {
    const [asker, responder] = [await start(owner), await start(reader)]
    await responder.respond(secret, ({ content }) => `${String(content)}!`)
    const raw: StreamMessage[] = []
    responder.network.on('message', ({ message }) => {
      if (message.partition === 0) raw.push(message)
    })
    expect((await asker.request(secret, 'who is there')).content).toBe('who is there!')
    expect(raw).toHaveLength(1)
    expect(Buffer.from(raw[0]?.content ?? []).includes(requestHeader)).toBe(false)
    expect(raw[0]?.extensions ?? []).toEqual([])
  })

  it('may be asked by who may not read, and is answered within one process, too', async () => {
    const [asker, both] = [await start(writer), await start(owner)]
    await both.respond(open, ({ content }) => content)
    expect((await asker.request(open, new Uint8Array([1, 2]))).content).toEqual(new Uint8Array([1, 2]))
    expect((await both.request(open, 'to oneself')).content).toBe('to oneself')
  })

  it('gets a reply from each responder that has one, also when one fails', async () => {
    const asker = await start(owner)
    const responders = [
      await start(reader),
      await start(reader),
      await start(newAccount()),
      await start(owner),
    ]
    const handlers = [
      () => 'one',
      () => 'two',
      () => {
        throw new Error('no\nidea')
      },
      () => undefined,
    ]
    for (const [i, responder] of responders.entries()) await responder.respond(open, handlers[i] ?? (() => 0))
    const failed = nextStatus(responders[2] as RunnelClient, 'callback-failed')
    const replies = []
    for await (const reply of asker.requestMany(open, 'all', { maxReplies: 3, timeoutMs: 20_000 }))
      replies.push(reply.error ?? reply.content)
    expect(replies.filter((reply) => typeof reply === 'string').sort()).toEqual(['one', 'two'])
    expect(replies.find((reply) => typeof reply !== 'string')).toMatchObject({
      code: 'REQUEST_FAILED',
      message: expect.stringContaining('no idea') as string,
    })
    expect((await failed).error).toBeInstanceOf(Error)
  })

  it('is not answered by who may not subscribe, nor by a reply that is not to it or not of its sender', async () => {
    const [asker, honest, cheat] = [await start(owner), await start(reader), await start(writer)]
    const atAsker = repliesAt(asker)
    await cheat.joinStreamPart(clear, 100)
    const sensor = await startDelegate(identityOf(reader), { reads: false })
    await sensor.client.joinStreamPart(clear, 100)
    const send = async (
      by: typeof owner,
      tag: RequestTag,
      sealedFor: RequestTag,
      { sealer = by, signer = identityOf(by), from = cheat }: Forgery = {},
    ) => {
      const bytes = encodeReplyContent({ contentType: 2, bytes: Buffer.from('forged') })
      const agreed = await newReplySealer(tag.publicKey, replyInfo(sealer.nodeId, clear))
      const sealed = agreed?.seal(sealedFor.requestId, bytes) ?? expect.fail()
      const messageChainId = `~r${by.nodeId.slice(0, 20)}`
      const chain = { streamId: clear, partition: 100, publisherId: by.nodeId, messageChainId }
      const content = Uint8Array.of(0, ...encodeReply({ requestId: tag.requestId, ...sealed }))
      const place = { timestamp: Date.now() + sent++, sequenceNumber: 0 }
      publishAlone({ chain, place, content }, { node: from.network, user: { signer }, crypto })
    }
    let sent = 0
    await honest.respond(clear, async ({ headers }) => {
      const tag = requestTagIn(headers) ?? expect.fail()
      await send(writer, tag, tag)
      await send(owner, tag, { ...tag, requestId: new Uint8Array(16) })
      await send(owner, tag, tag, { sealer: reader })
      await send(reader, tag, tag, { signer: sensor.signer, from: sensor.client })
      await expect.poll(() => atAsker.length).toBe(4)
      return 'honest'
    })
    for (const { network } of [cheat, sensor.client])
      await network.waitForNeighbours(toStreamPartId(clear, 100))
    const replies = []
    for await (const reply of asker.requestMany(clear, 'ask', { maxReplies: 1, timeoutMs: 20_000 }))
      replies.push(reply)
    expect(replies).toMatchObject([{ publisherId: honest.userId, content: 'honest' }])
  })

  it('ends when nobody is there, nobody answers, it is called off, or the client closes', async () => {
    const asker = await start(owner)
    await expect(asker.request(open, 'a')).rejects.toMatchObject({ code: 'NO_RESPONDER' })
    const silent = await start(reader)
    await silent.respond(open, () => undefined)
    await asker.network.waitForNeighbours(toStreamPartId(open, 100))
    await expect(asker.request(open, 'a', { timeoutMs: 500 })).rejects.toMatchObject({
      code: 'REQUEST_TIMEOUT',
    })
    for (const timeoutMs of [NaN, -1, 0, '5' as unknown as number])
      await expect(asker.request(open, 'a', { timeoutMs })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
    const signal = AbortSignal.timeout(100)
    await expect(asker.request(open, 'a', { signal })).rejects.toMatchObject({ code: 'ABORTED' })
    const asking = asker.request(open, 'a', { timeoutMs: 60_000 })
    const closed = expect(asking).rejects.toMatchObject({ code: 'CLIENT_CLOSED' })
    await asker.close()
    await closed
    await expect(silent.request(open, 'a', { timeout: 1 } as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })

  it('has replies checked by a schema, of a size that fits a message', async () => {
    const [asker, responder] = [await start(owner), await start(reader)]
    const responding = await responder.respond(open, ({ content }) =>
      content === 'large' ? 'x'.repeat(2 ** 20 - 128) : content === 'larger' ? 'x'.repeat(2 ** 20) : content,
    )
    const schema = z.object({ n: z.number() })
    expect((await asker.request(open, { n: 1 }, { schema })).content.n).toBe(1)
    await expect(asker.request(open, { n: '1' }, { schema })).rejects.toMatchObject({
      code: 'REPLY_UNREADABLE',
    })
    expect((await asker.request(open, 'large')).content).toHaveLength(2 ** 20 - 128)
    await expect(asker.request(open, 'larger')).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      message: expect.stringContaining('1048448') as string,
    })
    await responding.unsubscribe()
    await asker.stopPublishing(open)
    expect(asker.network.streamParts).toEqual([])
    await expect.poll(() => responder.network.streamParts).toEqual([])
  })
})
