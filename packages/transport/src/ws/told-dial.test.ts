import { createServer, type AddressInfo, type Server } from 'node:net'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { failureCode, type DialResult } from '../conformance/transport-pair.testkit.ts'
import { checkedLookup } from './checked-lookup.ts'
import { WebSocketTransport } from './web-socket-transport.ts'
import type { WebSocketOptions } from './ws-options.ts'

const toStop: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of toStop.splice(0).reverse()) await one.stop()
})

async function start(name: string, options: Partial<WebSocketOptions> = {}): Promise<WebSocketTransport> {
  const transport = new WebSocketTransport({ role: 'node', ...options }, testModules(name, systemClock))
  toStop.push(transport)
  await transport.start()
  return transport
}

function dial(transport: WebSocketTransport, url: string, isTold: boolean): Promise<DialResult> {
  const peerId = testModules('server', systemClock).identity.nodeId
  return new Promise((resolve) => transport.dial({ peerId, url, isTold, onOpen: resolve, onFail: resolve }))
}

/** A server of another kind, and how often somebody has come. */
async function startOther(): Promise<{ readonly port: number; readonly visits: () => number }> {
  let visits = 0
  const server: Server = createServer((socket) => {
    visits++
    socket.on('error', () => {})
    socket.resume()
    socket.end('220 service ready\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  toStop.push({ stop: () => new Promise((resolve) => server.close(resolve)) })
  return { port: (server.address() as AddressInfo).port, visits: () => visits }
}

describe('dialling where others say', () => {
  it('does not knock at local addresses from outside, by their names neither', async () => {
    const { port, visits } = await startOther()
    const client = await start('client', { dialsLocalAddresses: false })
    for (const host of ['127.0.0.1', '[::1]', '127.1', '0x7f000001', 'localhost', '[::ffff:127.0.0.1]'])
      expect(await dial(client, `ws://${host}:${port}`, true)).toMatchObject({
        code: 'DIAL_FAILED',
        message: expect.stringContaining('not a public address'),
      })
    expect(visits()).toBe(0)
  })

  it('goes on as before where a tracker is local, and before there is any', async () => {
    const listen = { host: '127.0.0.1', port: 0 }
    const server = await start('server', { listen })
    const client = await start('client')
    expect(failureCode(await dial(client, server.url, true))).toBeUndefined()
    expect(failureCode(await dial(client, server.url, false))).toBeUndefined()
    expect(failureCode(await dial(client, server.url, true))).toBeUndefined()
  })

  it('knocks three times where no node is, and then not for a while', async () => {
    const { port, visits } = await startOther()
    const client = await start('client')
    for (let round = 0; round < 10; round++)
      expect(failureCode(await dial(client, `ws://127.0.0.1:${port}`, true))).toBe('DIAL_FAILED')
    expect(visits()).toBe(3)
    expect(failureCode(await dial(client, `ws://127.0.0.1:${port}`, false))).toBe('DIAL_FAILED')
    expect(visits()).toBe(4)
  })

  it('dials what was checked, and nothing else that a name leads to', async () => {
    const refused = new Error('refused')
    const look = (refusal: (address: string) => Error | undefined, all: boolean): Promise<unknown> =>
      new Promise((resolve, reject) =>
        checkedLookup(refusal)('localhost', { all }, (error, address) =>
          error ? reject(error) : resolve(address),
        ),
      )
    await expect(look(() => refused, true)).rejects.toBe(refused)
    await expect(look(() => refused, false)).rejects.toBe(refused)
    expect(await look((address) => (address === '127.0.0.1' ? undefined : refused), true)).toEqual([
      { address: '127.0.0.1', family: 4 },
    ])
    expect(await look((address) => (address === '127.0.0.1' ? undefined : refused), false)).toBe('127.0.0.1')
  })
})
