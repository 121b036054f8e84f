import type { PublishOptions, RunnelClient } from '@runnel/client'
import { toNodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import type { GatewayAccount } from '../access/account.ts'
import { createGateway } from '../gateway.ts'
import { buildHttpGateway } from './http-gateway.ts'

const origin = 'https://app.example'
const authorization = 'Bearer good'
const streamPath = '/v1/streams/%2Fa'

/** A gateway with one key, whose client notes what it publishes. */
function open() {
  const published: { readonly content: unknown; readonly options: PublishOptions }[] = []
  const client = {
    publish: async (streamId: string, content: unknown, options: PublishOptions) => {
      published.push({ content, options })
      return { streamId, neighbours: 1 }
    },
    writable: async () => {},
  } as unknown as RunnelClient
  const account: GatewayAccount = {
    ...{ name: 'known', identity: '', userId: toNodeId(`0x${'a'.repeat(40)}`), maxMessageBytes: 1_000 },
    acquire: async () => ({ client, release: () => {} }),
    mayPublish: () => true,
    maySubscribe: () => true,
    maySubscribeToSome: () => true,
    burst: { messages: 10, bytes: 1_000 },
    takeRate: () => 0,
    connect: () => () => {},
  }
  const access = {
    accountOf: () => account,
    accountNamed: () => account,
    failed: () => 0,
    on: () => () => {},
  }
  const options = { clientCertificates: false, corsOrigins: [origin], maxConnectionsPerAddress: 10 }
  return { server: buildHttpGateway(options, createGateway(access, new VirtualClock())), published }
}

it('answers HEAD for an event stream with what it would begin with, and ends', async () => {
  const url = `${streamPath}/events`
  const { statusCode, headers } = await open().server.inject({
    method: 'HEAD',
    url,
    headers: { authorization },
  })
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
})

it('lets pages of another origin read when to try again, which only the answer itself can', async () => {
  const { server } = open()
  const url = `${streamPath}/messages`
  const { headers } = await server.inject({ url, headers: { authorization, origin } })
  expect(headers['access-control-expose-headers']).toBe('retry-after')
})

it('publishes JSON as it is written, a line or a body', async () => {
  const { server, published } = open()
  const json = '{"id": 12345678901234567890, "far": 1e400}'
  for (const [type, payload] of [
    ['application/json', json],
    ['application/x-ndjson', `${json}\n\n${json}`],
  ] as const)
    await server.inject({
      ...{ method: 'POST', url: `${streamPath}/messages`, payload },
      headers: { authorization, 'content-type': type },
    })
  expect(published.map(({ content }) => Buffer.from(content as Uint8Array).toString())).toEqual([
    json,
    json,
    json,
  ])
  expect(published.map(({ options }) => options.bytesAre)).toEqual(['json', 'json', 'json'])
})

it('refuses a line that is not UTF-8', async () => {
  const { server, published } = open()
  const answer = await server.inject({
    ...{ method: 'POST', url: `${streamPath}/messages`, payload: Buffer.from('1\n"\xff"\n2\n', 'latin1') },
    headers: { authorization, 'content-type': 'application/x-ndjson' },
  })
  expect(answer.json()).toMatchObject({ published: 1, line: 2, problem: { code: 'INPUT_INVALID' } })
  expect(published).toHaveLength(1)
})

it.each(['utf8', 'latin1'] as const)('takes message headers in %s', async (encoding) => {
  const { server, published } = open()
  // As Node.js reads the bytes of a header.
  const trace = Buffer.from('grüezi', encoding).toString('latin1')
  await server.inject({
    ...{ method: 'POST', url: `${streamPath}/messages`, payload: 'x' },
    headers: { authorization, 'content-type': 'text/plain', 'runnel-header-trace': trace },
  })
  expect(published[0]?.options.headers).toEqual({ trace: 'grüezi' })
})
