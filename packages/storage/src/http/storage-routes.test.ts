import { once } from 'node:events'
import { connect } from 'node:net'
import {
  anyRequester,
  buildBatch,
  ContentType,
  createIdentity,
  decodeBatch,
  decodeDelegation,
  encodeDelegation,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  signAccessToken,
  toStreamId,
  toStreamPartId,
  verifyBatch,
  type BatchSigner,
  type MessageBatch,
  type NodeId,
} from '@runnel/protocol'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '@runnel/client'
import { Access } from '../access.ts'
import { delegationFrom, identityOf, refOf } from '../delegations.testkit.ts'
import { storageLimits } from '../storage-limits.ts'
import { openTestStore, TestClock, turns, until, type TestStore } from '../storage.testkit.ts'
import { at, byRef, nodeId } from '../store/batches.testkit.ts'
import type { MessageStore } from '../store/message-store.ts'
import { accessHeader } from './access-header.ts'
import { addStorageRoutes } from './storage-routes.ts'

const crypto = await loadCrypto()
const random = seededRandom('http')
const publisher = createIdentity(generatePrivateKey(random), crypto)
const reader = createIdentity(generatePrivateKey(random), crypto)
const open = toStreamId(`${publisher.nodeId}/open`)
const closed = toStreamId(`${publisher.nodeId}/closed`)
const empty = toStreamId(`${publisher.nodeId}/empty`)
const self = nodeId(9)

const contents = [
  { contentType: ContentType.json, content: new TextEncoder().encode('{"a":1}') },
  { contentType: ContentType.text, content: new TextEncoder().encode('héllo') },
  { contentType: ContentType.binary, content: new Uint8Array([0, 255]) },
  { contentType: ContentType.json, content: new TextEncoder().encode('{"a":') },
]

function batchOf(
  streamId: typeof open,
  fromMs: number,
  extraBytes = 0,
  signer: BatchSigner = publisher,
): MessageBatch {
  const chain = { streamId, partition: 0, publisherId: publisher.nodeId, messageChainId: 'c' }
  const large = { contentType: ContentType.binary, content: new Uint8Array(extraBytes) }
  const messages = (extraBytes > 0 ? (Array(4).fill(large) as typeof contents) : contents).map(
    (content, index) => ({
      ...{ ...at(fromMs + index), ...content, encryptionType: 0, groupKeyId: '' },
      previous: index === 0 ? undefined : at(fromMs + index - 1),
    }),
  )
  return buildBatch({ chain, messages }, crypto, signer)
}

describe('the HTTP interface of a storage node', () => {
  let kept: TestStore
  let server: FastifyInstance
  let clock: TestClock
  let errors: unknown[]
  let oldestMs: number
  let flushed: Promise<void>
  let reads: number
  let onRead: () => void
  let revoked: boolean
  let addRoutes: (server: FastifyInstance, maxReads: number) => void

  beforeEach(async () => {
    kept = await openTestStore()
    clock = new TestClock()
    errors = []
    oldestMs = 0
    flushed = Promise.resolve()
    reads = 0
    onRead = () => {}
    revoked = false
    const store: MessageStore = Object.create(kept.store, {
      last: { value: kept.store.last.bind(kept.store) },
      delegationsOf: { value: kept.store.delegationsOf.bind(kept.store) },
      read: {
        value: (...args: Parameters<MessageStore['read']>) => {
          reads++
          onRead()
          return kept.store.read(...args)
        },
      },
    }) as MessageStore
    await kept.store.append([open, closed].flatMap((id) => [batchOf(id, 10), batchOf(id, 20)]))
    server = fastify({ routerOptions: { maxParamLength: 1024 } })
    const client = {
      nodeId: self,
      getStream: async (id: string) => {
        if (id !== open && id !== closed && id !== empty) throw clientError('STREAM_NOT_FOUND', id)
        return { id: toStreamId(id), partitions: 1, metadata: '', trackers: [], createdMs: 0 }
      },
      getStorageNodes: async () => [],
      permissionsOf: async (id: string, user: string) => ({
        ...{ edit: false, delete: false, grant: false, publishUntilMs: 0 },
        subscribeUntilMs: id !== closed || (user === reader.nodeId && !revoked) ? Infinity : 0,
      }),
      chainId: 1,
      network: { actingFor: () => undefined },
      readerPolicy: { readsForMs: () => Infinity, resolve: async () => {} },
      publisherPolicy: { check: () => 'allowed' as const, resolve: async () => {} },
    }
    addRoutes = (to, maxReads) =>
      addStorageRoutes(
        to,
        { maxReads, limits: storageLimits },
        {
          ...{ store, clock, access: new Access({ client, crypto, clock }) },
          ingest: { flushed: () => flushed },
          isKept: () => false,
          oldestMs: async () => oldestMs,
          report: async () => ({ hello: 'report' }),
          usage: async () => ({ hello: 'usage' }),
          onError: (error) => errors.push(error),
        },
      )
    addRoutes(server, 1)
  })
  afterEach(async () => {
    await server.close()
    await kept.remove()
  })

  const get = (
    query: string,
    headers: Record<string, string> = {},
    streamId: string = open,
    partition = '0',
  ) =>
    server.inject({
      url: `/v1/streams/${encodeURIComponent(streamId)}/partitions/${partition}/messages?${query}`,
      headers,
    })
  const linesOf = (body: string) =>
    body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  const tokenFor = (storageNodeId: NodeId, expiresMs = clock.now() + 1000) =>
    accessHeader(signAccessToken({ requesterId: anyRequester, storageNodeId, expiresMs }, crypto, reader))

  it('gives the last messages, a line each, as what they say they are', async () => {
    const response = await get('last=5')
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'runnel-from': '13-0',
      'runnel-to': '23-0',
      'runnel-count': '5',
    })
    const base64 = (bytes: Uint8Array | undefined) => ({
      base64: Buffer.from(bytes ?? []).toString('base64'),
    })
    const bad = base64(contents[3]?.content)
    expect(linesOf(response.body).map(({ timestamp, content }) => [timestamp, content])).toEqual([
      [13, bad],
      [20, { a: 1 }],
      [21, 'héllo'],
      [22, base64(contents[2]?.content)],
      [23, bad],
    ])
    expect(linesOf(response.body)[1]).toMatchObject({
      ...{ streamId: open, partition: 0, sequenceNumber: 0, publisherId: publisher.nodeId },
      ...{ messageChainId: 'c', previous: null, contentType: 'json' },
      signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
    })
  })

  it('gives whole batches with the first line of each, for those who verify', async () => {
    const lines = linesOf((await get('from=11&to=20&batch=true')).body)
    expect(lines.map(({ timestamp, batch }) => [timestamp, typeof batch])).toEqual([
      [11, 'string'],
      [12, 'undefined'],
      [13, 'undefined'],
      [20, 'string'],
    ])
    for (const { batch } of lines) {
      if (typeof batch !== 'string') continue
      expect(verifyBatch(decodeBatch(Buffer.from(batch, 'base64')), crypto)).toBe(true)
    }
  })

  it('gives batches as they were published, each after its length', async () => {
    const response = await get('from=0', { accept: 'application/octet-stream' })
    const body = response.rawPayload
    const batches: Buffer[] = []
    for (let offset = 0; offset < body.length;) {
      const end = offset + 4 + body.readUInt32BE(offset)
      batches.push(body.subarray(offset + 4, end))
      offset = end
    }
    expect(batches.map((bytes) => decodeBatch(bytes).messages[0]?.timestamp)).toEqual([10, 20])
  })

  describe('with batches that are signed under a delegation', () => {
    const delegate = identityOf('delegate')
    const delegation = delegationFrom(publisher, delegate)
    const ref = refOf(delegation)
    const delegated = [30, 40].map((fromMs) =>
      batchOf(open, fromMs, 0, { sign: delegate.sign, delegationRef: ref }),
    )
    beforeEach(() => kept.store.append(delegated, byRef(encodeDelegation(delegation))))

    it('names the user, and gives the delegation with each whole batch', async () => {
      const plain = linesOf((await get('from=30')).body)
      expect(plain).toHaveLength(8)
      for (const line of plain) {
        expect(line).toMatchObject({ publisherId: publisher.nodeId })
        expect(line).not.toHaveProperty('delegation')
      }
      const lines = linesOf((await get('from=20&batch=true')).body).filter(({ batch }) => batch)
      expect(lines.map(({ delegation }) => typeof delegation)).toEqual(['undefined', 'string', 'string'])
      for (const line of lines.slice(1)) {
        const shown = decodeDelegation(Buffer.from(line.delegation as string, 'base64'))
        const batch = decodeBatch(Buffer.from(line.batch as string, 'base64'))
        expect(refOf(shown)).toBe(batch.delegationRef)
        expect(verifyBatch(batch, crypto, shown.delegateId)).toBe(true)
      }
    })

    it('gives the delegation before them among the batches as they were published', async () => {
      const body = (await get('from=20', { accept: 'application/octet-stream' })).rawPayload
      const frames: string[] = []
      for (let offset = 0; offset < body.length;) {
        const length = body.readUInt32BE(offset)
        const isDelegation = length >= 2 ** 31
        const end = offset + 4 + (length % 2 ** 31)
        const bytes = body.subarray(offset + 4, end)
        frames.push(
          isDelegation ? refOf(decodeDelegation(bytes)) : String(decodeBatch(bytes).messages[0]?.timestamp),
        )
        offset = end
      }
      expect(frames).toEqual([ref, '20', '30', '40'])
    })
  })

  it('lets a delegate of a subscriber read, with its token and the delegation', async () => {
    const delegate = identityOf('delegate')
    const delegation = delegationFrom(reader, delegate, {
      untilMs: clock.now() + 60_000,
      fromMs: clock.now(),
    })
    const claim = { requesterId: anyRequester, storageNodeId: self, expiresMs: clock.now() + 1000 }
    const authorization = accessHeader(signAccessToken(claim, crypto, delegate))
    const hex = Buffer.from(encodeDelegation(delegation)).toString('hex')
    const getWith = async (headers: Record<string, string>) => {
      const response = await get('last=1', headers, closed)
      const { statusCode } = response
      return statusCode === 200 ? 200 : [statusCode, response.json<{ error: { code: string } }>().error.code]
    }
    expect(await getWith({ authorization, 'runnel-delegation': hex })).toBe(200)
    expect(await getWith({ authorization })).toEqual([403, 'NOT_PERMITTED'])
    expect(await getWith({ 'runnel-delegation': hex })).toEqual([401, 'DELEGATION_NOT_YOURS'])
    const unread = delegationFrom(reader, delegate, { ...delegation, reads: false })
    const scoped = Buffer.from(encodeDelegation(unread)).toString('hex')
    expect(await getWith({ authorization, 'runnel-delegation': scoped })).toEqual([403, 'DELEGATION_SCOPE'])
    for (const nonsense of ['xy', '', hex.slice(2)]) {
      const refused = await getWith({ authorization, 'runnel-delegation': nonsense })
      expect(refused).toEqual([401, 'DELEGATION_FORGED'])
    }
  })

  it('gives one publisher, one chain, and nothing that is due to be deleted', async () => {
    expect(linesOf((await get(`from=0&publisher=${publisher.nodeId}&chain=c`)).body)).toHaveLength(8)
    expect((await get(`from=0&publisher=${publisher.nodeId}&chain=d`)).body).toBe('')
    expect((await get(`last=9&publisher=${self}`)).body).toBe('')
    oldestMs = 22
    expect(linesOf((await get('from=0')).body)).toHaveLength(2)
  })

  it.each([
    ['', 'INVALID_ARGUMENT', 400],
    ['last=0', 'INVALID_ARGUMENT', 400],
    ['last=x', 'INVALID_ARGUMENT', 400],
    ['last=99999999999', 'INVALID_ARGUMENT', 400],
    ['last=1&from=3', 'INVALID_ARGUMENT', 400],
    ['last=1&last=2', 'INVALID_ARGUMENT', 400],
    ['last=1&limit=2', 'INVALID_ARGUMENT', 400],
    ['from=yesterday', 'INVALID_ARGUMENT', 400],
    ['from=20&to=10', 'INVALID_ARGUMENT', 400],
    ['from=1&chain=c', 'INVALID_ARGUMENT', 400],
    ['from=1&publisher=bob', 'INVALID_NODE_ID', 400],
  ])('refuses ?%s with %s', async (query, code, status) => {
    const response = await get(query)
    expect(response.statusCode).toBe(status)
    expect(response.json()).toEqual({
      error: { code, message: expect.any(String), remedy: expect.any(String) },
    })
  })

  it('refuses what there is not', async () => {
    const codeOf = async (streamId: string, partition: string) => {
      const response = await get('last=1', {}, streamId, partition)
      return [response.statusCode, response.json<{ error: { code: string } }>().error.code]
    }
    expect(await codeOf('nonsense', '0')).toEqual([400, 'INVALID_STREAM_ID'])
    expect(await codeOf(open, 'x')).toEqual([400, 'INVALID_PARTITION'])
    expect(await codeOf(empty, '0')).toEqual([404, 'NOT_STORED'])
    expect(await codeOf(open, '1')).toEqual([404, 'UNKNOWN_STREAM'])
    expect(await codeOf(`${publisher.nodeId}/gone`, '0')).toEqual([404, 'UNKNOWN_STREAM'])
  })

  it('wants a token for what is not public: of somebody who may, for this node, and in time', async () => {
    const codeWith = async (authorization: string | undefined) => {
      const response = await get('last=1', authorization === undefined ? {} : { authorization }, closed)
      return response.statusCode === 200 ? 200 : response.json<{ error: { code: string } }>().error.code
    }
    expect(await codeWith(undefined)).toBe('NOT_PERMITTED')
    expect(await codeWith('Bearer abc')).toBe('TOKEN_INVALID')
    expect(await codeWith('Runnel abcd')).toBe('TOKEN_INVALID')
    expect(await codeWith(tokenFor(nodeId(8)))).toBe('TOKEN_INVALID')
    expect(await codeWith(tokenFor(self, clock.now()))).toBe('TOKEN_INVALID')
    expect(await codeWith(tokenFor(self))).toBe(200)
  })

  it('serves so many at once', async () => {
    const gate = Promise.withResolvers<void>()
    flushed = gate.promise
    // Nothing is sent before somebody waits for the answer.
    const first = get('last=1').then((response) => response)
    await turns()
    const second = await get('last=1')
    expect(second.statusCode).toBe(429)
    expect(second.json()).toMatchObject({ error: { code: 'TOO_MANY_REQUESTS' } })
    gate.resolve()
    expect((await first).statusCode).toBe(200)
    expect((await get('last=1')).statusCode).toBe(200)
  })

  it('reads no further for a reader who does not take it or has gone', async () => {
    await kept.store.append(
      Array.from({ length: 500 }, (_, index) => batchOf(open, 1000 * (index + 1), 20_000)),
    )
    const address = await server.listen({ port: 0 })
    const url = `${address}/v1/streams/${encodeURIComponent(open)}/partitions/0/messages?from=0`
    const going = new AbortController()
    const response = await fetch(url, { signal: going.signal })
    expect(response.status).toBe(200)
    await until(() => reads > 0)
    // What the sockets take is little beside the 40 MB there are.
    let before = -1
    while (before < reads) {
      before = reads
      await turns(200)
    }
    expect((await get('last=1')).statusCode).toBe(429)
    going.abort()
    let status = 429
    while (status === 429) {
      await turns(1)
      status = (await get('last=1')).statusCode
    }
    expect(status).toBe(200)
    expect(reads * storageLimits.pageBytes).toBeLessThan(30e6)
  })

  it('reads no further for HEAD, which takes nothing', async () => {
    await kept.store.append(
      Array.from({ length: 500 }, (_, index) => batchOf(open, 1000 * (index + 1), 20_000)),
    )
    const address = await server.listen({ port: 0 })
    const url = `${address}/v1/streams/${encodeURIComponent(open)}/partitions/0/messages?from=0`
    const { status } = await fetch(url, { method: 'HEAD' })
    expect(status).toBe(200)
    const range = { streamPartId: toStreamPartId(open, 0), from: at(0), to: at(1) }
    // Each takes its turn behind a page that is being read.
    const readsMeanwhile = async () => {
      const before = reads
      for (let i = 0; i < 30; i++) await kept.store.read(range, { maxBytes: 1 })
      return reads - before
    }
    await readsMeanwhile()
    expect(await readsMeanwhile()).toBe(0)
    expect(reads * storageLimits.pageBytes).toBeLessThan(5e6)
  })

  it('hangs up on a reader who takes nothing for too long', async () => {
    await kept.store.append(
      Array.from({ length: 500 }, (_, index) => batchOf(open, 1000 * (index + 1), 20_000)),
    )
    const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }))
    const path = `/v1/streams/${encodeURIComponent(open)}/partitions/0/messages?from=0`
    const socket = connect({ port: Number(port), host: '127.0.0.1' }).pause()
    const closed = once(socket, 'close')
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nHost: runnel\r\n\r\n`)
    await until(() => reads > 0)
    expect((await get('last=1')).statusCode).toBe(429)
    // Its socket takes some before it is full.
    let status = 429
    while (status === 429) {
      clock.pass(storageLimits.idleMs)
      await turns(1)
      status = (await get('last=1')).statusCode
    }
    expect(status).toBe(200)
    socket.resume()
    await closed
    expect(socket.bytesRead).toBeLessThan(30e6)
  })

  it('hangs up on a reader who may no longer have it', async () => {
    const authorization = tokenFor(self)
    expect(linesOf((await get('from=0', { authorization }, closed)).body)).toHaveLength(8)
    onRead = () => {
      revoked = true
      clock.pass(storageLimits.recheckMs)
    }
    const ended = await get('from=0', { authorization }, closed).catch((error: unknown) => error)
    expect(ended).toMatchObject({ message: 'response destroyed before completion' })
    expect(errors).toEqual([])
  })

  it('frees the place of a reader who goes away before there is an answer', async () => {
    flushed = new Promise(() => {})
    const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }))
    const path = `/v1/streams/${encodeURIComponent(open)}/partitions/0/messages?last=1`
    const socket = connect({ port: Number(port), host: '127.0.0.1' })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: runnel\r\n\r\n`)
    while ((await get('last=0')).statusCode !== 429) await turns(1)
    flushed = Promise.resolve()
    socket.destroy()
    while ((await get('last=1')).statusCode !== 200) await turns(1)
  })

  it('leaves some of the places to other addresses', async () => {
    const crowded = fastify({ routerOptions: { maxParamLength: 1024 } })
    addRoutes(crowded, 8)
    const gate = Promise.withResolvers<void>()
    flushed = gate.promise
    const ask = (remoteAddress: string) =>
      crowded.inject({
        url: `/v1/streams/${encodeURIComponent(open)}/partitions/0/messages?last=1`,
        remoteAddress,
      })
    const asked = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '192.0.2.1'].map((address) =>
      ask(address).then(({ statusCode }) => statusCode),
    )
    await turns()
    gate.resolve()
    expect(await Promise.all(asked)).toEqual([200, 200, 429, 200])
    await crowded.close()
  })

  it('says nothing of what is wrong with the store but that it is', async () => {
    await kept.store.close()
    const response = await get('last=1')
    expect(response.statusCode).toBe(503)
    expect(response.json()).toMatchObject({ error: { code: 'STORE_FAILED' } })
    expect(response.body).not.toContain('sqlite')
    expect(errors).toHaveLength(1)
  })

  it('reports how it is doing', async () => {
    expect((await server.inject('/v1/storage')).json()).toEqual({ hello: 'report' })
    expect((await server.inject('/v1/storage/usage')).json()).toEqual({ hello: 'usage' })
  })
})
