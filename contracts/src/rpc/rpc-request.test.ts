import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { rpcRequest } from './rpc-request.ts'

let server: Server
let answer: RequestListener
let closed: Promise<void>

beforeEach(async () => {
  server = createServer((request, response) => answer(request, response))
  // A reset is an end, too.
  closed = new Promise((resolve) =>
    server.once('connection', (socket) => socket.on('error', () => {}).once('close', () => resolve())),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => void server.close())

const send = (timeoutMs?: number) => {
  const request = rpcRequest(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, timeoutMs)
  request.body = '{"id":1}'
  return { request, sent: request.send() }
}

it('brings an answer, with its status and headers', async () => {
  answer = (request, response) => {
    response.writeHead(201, { 'x-one': ['a', 'b'] })
    request.pipe(response)
  }
  const response = await send().sent
  expect([response.statusCode, response.bodyText, response.headers['x-one']]).toEqual([
    201,
    '{"id":1}',
    'a, b',
  ])
})

it('unpacks an answer, up to the size that it may have', async () => {
  let content = Buffer.from('[1]')
  answer = (request, response) => {
    expect(request.headers['accept-encoding']).toBe('gzip')
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(content))
  }
  expect((await send().sent).bodyJson).toEqual([1])
  content = Buffer.alloc(65 * 1024 * 1024)
  await expect(send().sent).rejects.toThrow(/larger than/)
})

it.each([
  ['1', 1_500, 'TIMEOUT'],
  ['30', undefined, 'SERVER_ERROR'],
])(
  'asks no more often than an endpoint says that has had enough: after %s s',
  async (seconds, timeoutMs, code) => {
    let asked = 0
    answer = (_, response) => {
      asked++
      response.writeHead(429, { 'retry-after': seconds }).end()
    }
    await expect(send(timeoutMs).sent.then((response) => response.assertOk())).rejects.toMatchObject({ code })
    expect(asked).toBeLessThan(4)
  },
)

it('asks again in time when an endpoint has had enough for a moment', async () => {
  const answers = [429, 200]
  answer = (_, response) => response.writeHead(answers.shift() ?? 500, { 'retry-after': '1' }).end('[1]')
  expect((await send().sent).bodyJson).toEqual([1])
})

it('closes its socket when nothing is answered in time', async () => {
  answer = () => {}
  const { sent } = send(50)
  await expect(sent).rejects.toMatchObject({ code: 'TIMEOUT' })
  await closed
})

it('closes its socket when an answer is not finished in time', async () => {
  answer = (_, response) => void response.write('[')
  await expect(send(100).sent).rejects.toMatchObject({ code: 'TIMEOUT' })
  await closed
})

it('closes its socket when it is cancelled', async () => {
  const asked = Promise.withResolvers<void>()
  answer = () => asked.resolve()
  const { request, sent } = send()
  await asked.promise
  request.cancel()
  await expect(sent).rejects.toThrow('cancelled')
  await closed
})

it('takes no answer without an end', async () => {
  answer = (_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(1024 * 1024)));
      response.once('drain', more)
    }
    more()
  }
  await expect(send().sent).rejects.toThrow('an answer of more than')
  await closed
})
