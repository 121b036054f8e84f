import type { ContentStep, Message } from '@runnel/client'
import {
  buildBatch,
  ContentType,
  createIdentity,
  EncryptionType,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  type BatchDraft,
  type Identity,
  type MessageRef,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stopAll } from '../../cli.testkit.ts'
import { GatewayNetwork, streamPath, type TestGateway } from '../gateway.testkit.ts'
import { ServerEvents } from './server-events.testkit.ts'

const timeoutMs = 300_000
const json = { 'content-type': 'application/json' }

describe('the HTTP gateway', { timeout: timeoutMs }, () => {
  const network = new GatewayNetwork()
  let gateway: TestGateway

  beforeAll(async () => {
    await network.start()
    gateway = await network.gateway({
      all: { publish: ['/#'], subscribe: ['/#'] },
      reader: { subscribe: ['/#'] },
      slow: { publish: ['/#'], maxMessagesPerS: 1 },
      asking: { subscribe: ['/#'], maxMessagesPerS: 1 },
      batches: { publish: ['/#'], subscribe: ['/#'], maxMessagesPerS: 2 },
      small: { publish: ['/#'], maxMessageBytes: 10 },
    })
  }, timeoutMs)

  afterAll(async () => {
    await stopAll()
    await network.stop()
  }, timeoutMs)

  const postBatch = (stream: string, bytes: Uint8Array) =>
    gateway.get(streamPath(stream, 'batches'), {
      ...{ method: 'POST', body: new Uint8Array(bytes) },
      headers: { 'content-type': 'application/octet-stream' },
    })

  it('publishes JSON, text and bytes, which other clients read', async () => {
    const stream = await network.newStream('kinds')
    const reader = await network.network.client({ privateKey: network.network.ownerKey })
    const subscription = await reader.subscribe(stream)
    const post = (type: string, body: string | Uint8Array<ArrayBuffer>, query = '') =>
      gateway.get(streamPath(stream, `messages${query}`), {
        ...{ method: 'POST', body },
        headers: { 'content-type': type, 'runnel-header-trace': 'abc' },
      })
    const answers = [
      await post('application/json', '{"t": 21.5}', '?key=kitchen'),
      await post('text/plain; charset=utf-8', 'grüezi'),
      await post('application/octet-stream', new Uint8Array([0, 255])),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const places = (await Promise.all(answers.map((answer) => answer.json()))) as { id: string }[]
    const got: Message[] = []
    for await (const message of subscription) {
      got.push(message)
      if (got.length === 3) break
    }
    expect(got).toMatchObject([
      { content: { t: 21.5 }, key: 'kitchen', headers: { trace: 'abc' }, contentType: 'json' },
      { content: 'grüezi', contentType: 'text' },
      { content: new Uint8Array([0, 255]), contentType: 'binary' },
    ])
    const idOf = ({ partition, publisherId, messageChainId, timestamp, sequenceNumber }: Message) =>
      `${partition}/${publisherId}/${messageChainId}/${timestamp}-${sequenceNumber}`
    expect(places.map(({ id }) => id)).toEqual(got.map(idOf))
    expect(places[0]).toMatchObject({ publisherId: network.owner.userId, stored: false })
  })

  it('sends events, and resumes after the last one: nothing is lost, nothing comes twice', async () => {
    const stream = await network.newStream('events', 2)
    const second = await network.network.client({ privateKey: network.network.ownerKey })
    const publishers = [network.owner, second]
    let next = 0
    const publish = async (count: number) => {
      const sent = []
      for (let i = 0; i < count; i++) {
        const partition = next % 2
        sent.push(await publishers[Math.floor(next / 2) % 2]?.publish(stream, next++, { partition }))
      }
      await network.owner.waitForStorage(sent.filter((place) => place !== undefined))
    }
    const url = `${gateway.url}${streamPath(stream, 'events')}`
    const headers = { authorization: `Bearer ${gateway.keys['all']}` }
    const events = new ServerEvents(url, headers)
    await events.connect()
    const seen: unknown[] = []
    for (let round = 0; round < 4; round++) {
      await publish(10)
      while (seen.length < next) seen.push((await events.next()).message?.content)
      events.drop()
      await publish(7)
      await events.connect()
      while (seen.length < next) seen.push((await events.next()).message?.content)
    }
    expect(seen.toSorted((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: next }, (_, i) => i))
    events.drop()
  })

  it('gives history as lines, last values, and tables', async () => {
    const stream = await network.newStream('history')
    const bulk = await gateway.get(streamPath(stream, 'messages?key=k'), {
      ...{ method: 'POST', headers: { 'content-type': 'application/x-ndjson' } },
      body: Array.from({ length: 500 }, (_, i) => `{"i":${i}}`).join('\n'),
    })
    const result = (await bulk.json()) as {
      published: number
      last: Parameters<typeof network.owner.waitForStorage>[0]
    }
    expect(result).toMatchObject({ published: 500 })
    await network.owner.waitForStorage(result.last)
    const linesOf = async (rest: string) => {
      const answer = await gateway.get(streamPath(stream, rest))
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
      const text = await answer.text()
      return text.trim().split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as { content: { i: number }; timestamp: number }) // prettier-ignore
    }
    expect((await linesOf('messages?last=3')).map(({ content }) => content.i)).toEqual([497, 498, 499])
    const all = await linesOf(`messages?from=-10m&publisher=${network.owner.userId}`)
    expect(all.map(({ content }) => content.i)).toEqual(Array.from({ length: 500 }, (_, i) => i))
    expect(await linesOf('messages?from=0&to=1000')).toEqual([])
    expect((await linesOf('table')).map(({ content }) => content.i)).toEqual([499])
    const last = await gateway.get(streamPath(stream, 'last?key=k'))
    expect(await last.json()).toMatchObject({ key: 'k', content: { i: 499 } })
    const gone = await gateway.get(streamPath(stream, 'last?key=k'), { method: 'DELETE' })
    expect(gone.status).toBe(200)
    expect((await gateway.get(streamPath(stream, 'last?key=k'))).status).toBe(404)
  })

  it('says at the end of history and of a table how many messages were left out, and why', async () => {
    const stream = await network.newStream('left-out')
    const broken: ContentStep = {
      name: 'broken',
      seal: (messages) =>
        messages.map((message) => ({ ...message, contentType: ContentType.json, content: Buffer.from('{') })),
      ...{ isSealed: () => false, open: (message) => message },
    }
    const publisher = await network.network.client(
      { privateKey: network.network.ownerKey },
      { contentSteps: [broken] },
    )
    await publisher.publish(stream, 1, { key: 'a' })
    await publisher.waitForStorage(await publisher.publish(stream, 2, { key: 'b' }))
    await network.owner.waitForStorage(await network.owner.publish(stream, 3, { key: 'c' }))
    for (const rest of ['messages?last=10', 'table']) {
      const answer = await gateway.get(streamPath(stream, rest))
      const lines = (await answer.text()).trim().split('\n')
      expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
        { content: 3 },
        { undecodable: { count: 2, last: { streamId: stream }, problem: { remedy: expect.any(String) } } },
      ])
    }
  })

  it('says at the end of history which messages others name and no storage node has', async () => {
    const stream = await network.newStream('gaps')
    const crypto = await loadCrypto()
    const device = createIdentity(generatePrivateKey(systemRandom), crypto)
    await network.owner.grant(stream, { user: device.nodeId, permissions: ['publish'] })
    const nowMs = Date.now()
    for (const draft of [
      draftOf(stream, device, nowMs),
      draftOf(stream, device, nowMs + 2, { timestamp: nowMs + 1, sequenceNumber: 0 }),
    ]) {
      const { bytes } = buildBatch(draft, crypto, device)
      let answer = await postBatch(stream, bytes)
      // The gateway follows the registry.
      while (answer.status === 403) answer = await postBatch(stream, bytes)
      expect(answer.status).toBe(200)
      await network.owner.waitForStorage({
        ...draft.chain,
        timestamp: draft.messages[0]!.timestamp,
        sequenceNumber: 0,
      })
    }
    const answer = await gateway.get(streamPath(stream, 'messages?last=10'))
    const lines = (await answer.text()).trim().split('\n')
    const place = (timestamp: number) => ({ timestamp, sequenceNumber: 0 })
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { content: `at ${nowMs}` },
      { content: `at ${nowMs + 2}` },
      { gaps: { count: 1, last: { messageChainId: 'device', after: place(nowMs), upTo: place(nowMs + 1) } } },
    ])
  })

  it('waits for storage, and answers the same for an idempotency key', async () => {
    const stream = await network.newStream('once')
    const post = (body: string, key: string) =>
      gateway.get(streamPath(stream, 'messages?wait=stored'), {
        ...{ method: 'POST', body },
        headers: { ...json, 'idempotency-key': key },
      })
    const [first, second] = await Promise.all([post('1', 'a'), post('1', 'a')])
    const third = await post('1', 'a')
    const answer = (await first.json()) as object
    expect(answer).toMatchObject({ stored: true, neighbours: expect.any(Number) })
    expect([await second.json(), await third.json()]).toEqual([answer, answer])
    expect(await post('2', 'a')).toMatchObject({ status: 422 })
    const stored = await gateway.get(streamPath(stream, 'messages?last=10'))
    expect((await stored.text()).trim().split('\n')).toHaveLength(1)
  })

  it('passes on what clients signed themselves, and nothing that is forged', async () => {
    const stream = await network.newStream('signed')
    const crypto = await loadCrypto()
    const device = createIdentity(generatePrivateKey(systemRandom), crypto)
    const draft = (timestamp: number) => draftOf(stream, device, timestamp)
    const post = (bytes: Uint8Array) => postBatch(stream, bytes)
    const codeOf = async (answer: Response) => ((await answer.json()) as { code: string }).code
    const nowMs = Date.now()
    const first = buildBatch(draft(nowMs), crypto, device)
    const refused = await post(first.bytes)
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'NO_PUBLISH_PERMISSION'])
    await network.owner.grant(stream, { user: device.nodeId, permissions: ['publish'] })
    const reader = await network.network.client({ privateKey: network.network.ownerKey })
    const subscription = await reader.subscribe(stream)
    let answer = await post(first.bytes)
    // The gateway follows the registry.
    while (answer.status === 403) answer = await post(first.bytes)
    expect(await answer.json()).toMatchObject({
      publisherId: device.nodeId,
      messages: [{ timestamp: nowMs }],
    })
    for await (const message of subscription) {
      expect(message).toMatchObject({ publisherId: device.nodeId, content: `at ${nowMs}` })
      break
    }
    const three: BatchDraft = {
      ...draft(nowMs),
      messages: [0, 1, 2].flatMap((i) =>
        draft(nowMs).messages.map((message) => ({
          ...{ ...message, sequenceNumber: i },
          previous: i === 0 ? undefined : { timestamp: nowMs, sequenceNumber: i - 1 },
        })),
      ),
    }
    const tooMany = await gateway.get(streamPath(stream, 'batches'), {
      ...{ method: 'POST', body: new Uint8Array(buildBatch(three, crypto, device).bytes) },
      ...{ key: gateway.keys['batches'], headers: { 'content-type': 'application/octet-stream' } },
    })
    expect([tooMany.status, await codeOf(tooMany)]).toEqual([413, 'GATEWAY_BATCH_TOO_LARGE'])
    const other = createIdentity(generatePrivateKey(systemRandom), crypto)
    const forged = await post(buildBatch(draft(nowMs + 1), crypto, other).bytes)
    expect([forged.status, await codeOf(forged)]).toEqual([400, 'BATCH_FORGED'])
    const old = await post(buildBatch(draft(nowMs - 3_600_000), crypto, device).bytes)
    expect([old.status, await codeOf(old)]).toEqual([400, 'TIMESTAMP_OUT_OF_BOUNDS'])
    const none = await post(new Uint8Array([1, 2, 3]))
    expect([none.status, await codeOf(none)]).toEqual([400, 'MALFORMED_PACKET'])
  })

  it('says in problem details what is wrong', async () => {
    const stream = await network.newStream('wrong')
    const path = streamPath(stream, 'messages')
    const post = (body: string, init: Parameters<TestGateway['get']>[1] = {}) =>
      gateway.get(path, { method: 'POST', body, ...init, headers: { ...json, ...init.headers } })
    const { keys } = gateway
    const problemOf = async (answer: Response) => {
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
      const { status, code, detail } = (await answer.json()) as {
        status: number
        code: string
        detail: string
      }
      expect(status).toBe(answer.status)
      return [status, code, detail]
    }
    const any = expect.any(String) as string
    expect(await problemOf(await post('1', { key: 'rk_wrong' }))).toEqual([401, 'GATEWAY_KEY_WRONG', any])
    expect(await problemOf(await fetch(`${gateway.url}/v1/anything`))).toEqual([
      401,
      'GATEWAY_KEY_MISSING',
      any,
    ])
    const deleting = await gateway.get(path, { method: 'DELETE' })
    expect(deleting.headers.get('allow')).toBe('GET, HEAD, POST')
    expect(await problemOf(deleting)).toEqual([405, 'GATEWAY_WRONG_METHOD', any])
    expect(await problemOf(await post('1', { headers: { 'content-type': '' } }))).toEqual([
      ...[415, 'GATEWAY_CONTENT_TYPE'],
      expect.stringContaining('the header content-type is empty'),
    ])
    expect(await problemOf(await gateway.get('/v1/anything'))).toEqual([404, 'GATEWAY_NO_ROUTE', any])
    expect(await problemOf(await post('1', { key: keys['reader'] }))).toEqual([
      403,
      'GATEWAY_NOT_ALLOWED',
      any,
    ])
    expect(await problemOf(await post('{"a": x}'))).toEqual([
      400,
      'INPUT_INVALID',
      expect.stringContaining('from character 7 on'),
    ])
    expect(await problemOf(await post('1', { headers: { 'content-type': 'image/png' } }))).toEqual([
      ...[415, 'GATEWAY_CONTENT_TYPE'],
      expect.stringContaining('image/png'),
    ])
    expect(await problemOf(await post('"12345678901"', { key: keys['small'] }))).toEqual([
      413,
      'GATEWAY_TOO_LARGE',
      any,
    ])
    expect(await problemOf(await post(`"${'x'.repeat(2 ** 20)}"`))).toEqual([413, 'GATEWAY_TOO_LARGE', any])
    expect((await post('1', { key: keys['slow'] })).status).toBe(200)
    const limited = await post('1', { key: keys['slow'] })
    expect(limited.headers.get('retry-after')).toBe('1')
    expect(await problemOf(limited)).toEqual([429, 'GATEWAY_RATE', any])
    // Reading takes from the rate, whatever is read; a second goes by before the next.
    for (const rest of ['last', 'table', 'messages?last=1', 'events'])
      await expect
        .poll(async () => (await gateway.get(streamPath(stream, rest), { key: keys['asking'] })).status)
        .toBe(429)
    const get = async (of: string, rest: string) => problemOf(await gateway.get(streamPath(of, rest)))
    expect(await get('/no-such-stream', 'messages?last=1')).toEqual([404, 'STREAM_NOT_FOUND', any])
    expect(await get('no/stream', 'messages?last=1')).toEqual([400, 'INVALID_STREAM_ID', any])
    expect(await get(stream, 'messages')).toEqual([400, 'INVALID_ARGUMENT', any])
    expect(await get(stream, 'messages?last=1&lats=2')).toEqual([
      400,
      'INVALID_ARGUMENT',
      expect.stringContaining('lats'),
    ])
    expect(await get(stream, 'messages?from=yesterday')).toEqual([400, 'INVALID_ARGUMENT', any])
    expect(await get(stream, 'messages?last=1&partition=7')).toEqual([400, 'PARTITION_OUT_OF_RANGE', any])
    expect(await get(stream, 'events?last-event-id=nonsense')).toEqual([400, 'GATEWAY_CURSOR_INVALID', any])
    expect(await get(stream, 'last?key=none')).toEqual([404, 'NO_LAST_VALUE', any])
    const bulk = await post('1\n2\n{\n4\n', { headers: { 'content-type': 'application/x-ndjson' } })
    expect([bulk.status, await bulk.json()]).toMatchObject([400, { published: 2, line: 3, problem: { code: 'INPUT_INVALID' } }]) // prettier-ignore
  })
})

/** One message of a device that signs for itself. */
function draftOf(streamId: string, device: Identity, timestamp: number, previous?: MessageRef): BatchDraft {
  return {
    chain: {
      ...{ streamId: toStreamId(streamId), partition: 0 },
      ...{ publisherId: device.nodeId, messageChainId: 'device' },
    },
    messages: [
      {
        ...{ timestamp, sequenceNumber: 0, previous },
        ...{ contentType: ContentType.text, encryptionType: EncryptionType.none, groupKeyId: '' },
        content: new TextEncoder().encode(`at ${timestamp}`),
      },
    ],
  }
}
