import { on, once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket as WsSocket } from 'ws'
import { stopAll } from '../../cli.testkit.ts'
import { GatewayNetwork, type TestGateway } from '../gateway.testkit.ts'
import { writeKeysFile } from '../access/keys-file.ts'
import { decodeFrame, encodeBinary } from './frames.ts'

const timeoutMs = 300_000

interface Said {
  readonly op: string
  readonly id?: number
  readonly code?: string
  readonly subscription?: number
  readonly cursor?: string
  readonly message?: { readonly id: string; readonly content: unknown }
}

describe('the WebSocket gateway', { timeout: timeoutMs }, () => {
  const network = new GatewayNetwork()
  let gateway: TestGateway
  let url: string

  beforeAll(async () => {
    await network.start()
    const all = { publish: ['/#'], subscribe: ['/#'] }
    gateway = await network.gateway({ all, other: all }, { httpGateway: { webSocket: true } })
    url = `${gateway.url.replace('http', 'ws')}/v1/ws?key=${gateway.keys['all']}`
  }, timeoutMs)

  afterAll(async () => {
    await stopAll()
    await network.stop()
  }, timeoutMs)

  /** The WebSocket of Node, which is the browsers'. */
  async function open() {
    const socket = new WebSocket(url, ['runnel.json.v1'])
    const said: Said[] = []
    let wake = () => {}
    socket.addEventListener('message', ({ data }) => {
      said.push(JSON.parse(String(data)) as Said)
      wake()
    })
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', reject)
    })
    const next = async () => {
      while (said.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return said.shift() as Said
    }
    const ask = (operation: object) => socket.send(JSON.stringify(operation))
    return { socket, next, ask }
  }

  it('publishes and subscribes in JSON, and resumes by a cursor: nothing is lost, nothing comes twice', async () => {
    const stream = await network.newStream('json')
    const first = await open()
    first.ask({ op: 'subscribe', id: 1, stream: '/json' })
    const subscribed = await first.next()
    expect(subscribed).toMatchObject({ op: 'subscribed', id: 1, subscription: 1, cursor: expect.any(String) })
    first.ask({ op: 'publish', id: 2, stream: '/json', content: { t: 1 }, headers: { a: 'b' } })
    const answers = [await first.next(), await first.next()].toSorted((a, b) => a.op.localeCompare(b.op))
    expect(answers).toMatchObject([
      { op: 'message', subscription: 1, message: { content: { t: 1 }, headers: { a: 'b' } } },
      { op: 'published', id: 2, message: { streamId: stream } },
    ])
    first.socket.close()
    const missed = [await network.owner.publish(stream, 'missed'), await network.owner.publish(stream, 'too')]
    await network.owner.waitForStorage(missed)
    const second = await open()
    second.ask({ op: 'subscribe', id: 1, stream: '/json', cursor: answers[0]?.cursor })
    expect(await second.next()).toMatchObject({ op: 'subscribed' })
    expect([(await second.next()).message?.content, (await second.next()).message?.content]).toEqual([
      'missed',
      'too',
    ])
    second.ask({ op: 'unsubscribe', id: 3, subscription: 1 })
    expect(await second.next()).toMatchObject({ op: 'unsubscribed', id: 3 })
    // Where history begins is not known before its first message.
    second.ask({ op: 'subscribe', id: 4, stream: '/json', last: 1 })
    const answer = await second.next()
    expect(answer).toMatchObject({ op: 'subscribed', id: 4 })
    expect(answer).not.toHaveProperty('cursor')
    second.socket.close()
  })

  it('has bytes as they are in binary', async () => {
    const stream = await network.newStream('binary')
    const socket = new WsSocket(url, ['runnel.binary.v1'])
    await once(socket, 'open')
    const frames = on(socket, 'message')
    const next = async () => {
      const { value } = (await frames.next()) as { value: [Buffer] }
      return decodeFrame(value[0], true, 'runnel.binary.v1')
    }
    socket.send(encodeBinary({ op: 'subscribe', id: 1, stream }, new Uint8Array()))
    expect((await next()).header).toMatchObject({ op: 'subscribed' })
    socket.send(encodeBinary({ op: 'publish', id: 2, stream }, new Uint8Array([0, 1, 255])))
    const message = [await next(), await next()].find(({ header }) => (header as Said).op === 'message')
    expect(message?.header).toMatchObject({ message: { contentType: 'binary' } })
    expect(new Uint8Array(message?.content ?? [])).toEqual(new Uint8Array([0, 1, 255]))
    socket.close()
  })

  it('sends no more than its client grants, which misses nothing', async () => {
    const stream = await network.newStream('credit')
    const socket = new WsSocket(url, ['runnel.binary.v1'])
    await once(socket, 'open')
    const frames = on(socket, 'message')
    let subscribed = 0
    const contents = new Map<number, string[]>([1, 2].map((subscription) => [subscription, []]))
    const until = async (isSo: () => boolean) => {
      while (!isSo()) {
        const { value } = (await frames.next()) as { value: [Buffer] }
        const { header, content } = decodeFrame(value[0], true, 'runnel.binary.v1')
        const { op, subscription = 0 } = header as Said
        expect(op).not.toBe('error')
        if (op === 'subscribed') subscribed++
        if (op === 'message') contents.get(subscription)?.push(Buffer.from(content ?? []).toString())
      }
    }
    const ask = (operation: object) => socket.send(encodeBinary(operation, new Uint8Array()))
    const publish = async (from: number, to: number) => {
      for (let i = from; i < to; i++) await network.owner.publish(stream, `${i}`)
    }
    ask({ op: 'subscribe', id: 1, stream, credit: 2 })
    ask({ op: 'subscribe', id: 2, stream })
    await until(() => subscribed === 2)
    await publish(0, 5)
    await until(() => contents.get(2)?.length === 5)
    expect(contents.get(1)).toEqual(['0', '1'])
    ask({ op: 'credit', id: 3, subscription: 1, messages: 1 })
    await until(() => contents.get(1)?.length === 3)
    ask({ op: 'credit', id: 4, subscription: 1, messages: 10 })
    await publish(5, 8)
    await until(() => contents.get(1)?.length === 8 && contents.get(2)?.length === 8)
    expect(contents.get(1)).toEqual(contents.get(2))
    socket.close()
  })

  it('leaves to storage what waits for credit too long, and goes on from there', async () => {
    const stream = await network.newStream('parked')
    const { socket, next, ask } = await open()
    ask({ op: 'subscribe', id: 1, stream, credit: 1 })
    expect(await next()).toMatchObject({ op: 'subscribed' })
    const filler = 'x'.repeat(100_000)
    const count = 150
    const sent = []
    for (let i = 0; i < count; i++) sent.push(await network.owner.publish(stream, { i, filler }))
    await network.owner.waitForStorage(sent)
    const plugins = () => gateway.broker.snapshot().plugins
    await expect.poll(plugins).toMatchObject({ httpGateway: { parkedReaders: 1, slowReaders: 0 } })
    ask({ op: 'credit', id: 2, subscription: 1, messages: count })
    const seen: number[] = []
    while (seen.length < count) {
      const { op, message } = await next()
      if (op === 'message') seen.push((message?.content as { i: number }).i)
      else expect(op).toBe('credited')
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, i) => i))
    ask({ op: 'credit', id: 3, subscription: 9, messages: 1 })
    expect(await next()).toMatchObject({ op: 'error', id: 3, code: 'INPUT_INVALID' })
    socket.close()
  })

  it('answers what is wrong by its id, and closes on what is no frame', async () => {
    const { socket, next, ask } = await open()
    ask({ op: 'publish', id: 1, stream: '/nothing-there', content: 1 })
    expect(await next()).toMatchObject({
      op: 'error',
      id: 1,
      code: 'STREAM_NOT_FOUND',
      remedy: expect.any(String),
    })
    ask({ op: 'publish', id: 2, stream: `0x${'b'.repeat(40)}/x`, content: 1 })
    expect(await next()).toMatchObject({ op: 'error', id: 2, code: 'GATEWAY_NOT_ALLOWED' })
    ask({ op: 'dance', id: 3 })
    expect(await next()).toMatchObject({ op: 'error', id: 3, code: 'INVALID_ARGUMENT' })
    const closed = once(socket, 'close') as unknown as Promise<[CloseEvent]>
    socket.send('{')
    expect(await next()).toMatchObject({ op: 'error', code: 'INPUT_INVALID' })
    expect((await closed)[0].code).toBe(4400)
  })

  it('lets nobody in without a key, and ends with it', async () => {
    const refused = new WsSocket(url.replace(/key=.*/, 'key=rk_wrong'))
    const [, response] = (await once(refused, 'unexpected-response')) as [unknown, { statusCode: number }]
    expect(response.statusCode).toBe(401)
    // Beyond what one network may guess, it is told when to come back.
    let retryAfter: string | undefined
    while (retryAfter === undefined) {
      const guessing = new WsSocket(url.replace(/key=.*/, 'key=rk_wrong'))
      const [, answer] = (await once(guessing, 'unexpected-response')) as [unknown, IncomingMessage]
      expect(answer.statusCode).toBe(answer.headers['retry-after'] === undefined ? 401 : 429)
      retryAfter = answer.headers['retry-after']
    }
    expect(retryAfter).toBe('1')
    const socket = new WsSocket(url.replace(/key=.*/, `key=${gateway.keys['other']}`))
    await once(socket, 'open')
    writeKeysFile(gateway.keysFile, [])
    const [code] = (await once(socket, 'close')) as [number]
    expect(code).toBe(4401)
  })
})
