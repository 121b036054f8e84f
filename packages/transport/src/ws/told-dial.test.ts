import { createServer, type AddressInfo, type Server } from 'node:net'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { failureCode, type DialResult } from '../conformance/transport-pair.testkit.ts'
import { transportError } from '../errors.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { checkedLookup } from './checked-lookup.ts'
import { ToldDial } from './told-dial.ts'
import { ToldDials } from './told-dials.ts'
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

  it('makes no request for a path, nor as a user, that others name', async () => {
    const { port, visits } = await startOther()
    const client = await start('client')
    for (const url of [
      `ws://127.0.0.1:${port}/path`,
      `ws://127.0.0.1:${port}/?query`,
      `ws://me@127.0.0.1:${port}`,
    ])
      expect(await dial(client, url, true)).toMatchObject({
        code: 'DIAL_FAILED',
        message: expect.stringContaining('not a URL that a node has'),
      })
    expect(visits()).toBe(0)
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

  it('takes failures over TLS for nothing that is said of a node without', async () => {
    const server = await start('server', { listen: { host: '127.0.0.1', port: 0 } })
    const client = await start('client')
    for (let round = 0; round < 3; round++)
      expect(failureCode(await dial(client, server.url.replace('ws:', 'wss:'), true))).toBe('TLS_FAILED')
    expect(failureCode(await dial(client, server.url, true))).toBeUndefined()
  })

  it('knocks at one address thirty times in vain, at whatever ports', async () => {
    const others = await Promise.all(Array.from({ length: 11 }, () => startOther()))
    const client = await start('client')
    for (let round = 0; round < 3; round++)
      for (const { port } of others) await dial(client, `ws://127.0.0.1:${port}`, true)
    expect(others.reduce((sum, { visits }) => sum + visits(), 0)).toBe(30)
  })

  it('dials what was chosen, and nothing else that a name leads to', async () => {
    const look = (choose: Parameters<typeof checkedLookup>[0], all: boolean): Promise<unknown> =>
      new Promise((resolve, reject) =>
        checkedLookup(choose)('localhost', { all }, (error, address) =>
          error ? reject(error) : resolve(address),
        ),
      )
    const refused = new Error('refused')
    const refuse = (): never => {
      throw refused
    }
    await expect(look(refuse, true)).rejects.toBe(refused)
    await expect(look(refuse, false)).rejects.toBe(refused)
    await expect(look(() => [], false)).rejects.toThrow('has no address')
    const chosen = { address: '127.0.0.1', family: 4 }
    expect(await look(() => [chosen], true)).toEqual([chosen])
    expect(await look(() => [chosen], false)).toBe('127.0.0.1')
  })
})

describe('a told name', () => {
  const failure = transportError('DIAL_FAILED')
  /** One dial of a name that leads to these addresses; the address that was tried. */
  const dialName = (
    dials: ToldDials,
    url: string,
    addresses: readonly string[],
    isNode: readonly string[],
  ) => {
    const told = new ToldDial({ isTold: true }, new URL(url), dials)
    told.begin()
    const [chosen] = told.choose(addresses.map((address) => ({ address })))
    const isOpen = isNode.includes(chosen?.address ?? '')
    told.done(isOpen ? 'open' : 'failed', isOpen ? undefined : failure)
    return chosen?.address
  }

  it('has nobody shunned that was not tried', () => {
    const dials = new ToldDials({}, new VirtualClock())
    const honest = Array.from({ length: 100 }, (_, n) => `198.51.100.${n}`)
    for (let n = 0; n < 3; n++) dialName(dials, 'ws://x.example:8080', ['192.0.2.1', ...honest], [])
    expect(() => dialName(dials, 'ws://x.example:8080', honest, [])).toThrow('no node was there 3 times')
    for (const address of honest) expect(dials.refusal(new URL(`ws://${address}:8080`))).toBeUndefined()
  })

  it('clears nobody that was not reached', () => {
    const dials = new ToldDials({}, new VirtualClock())
    const tried: (string | undefined)[] = []
    for (let n = 0; n < 100; n++)
      tried.push(dialName(dials, `ws://x${n}.example`, ['192.0.2.1', '203.0.113.1'], ['203.0.113.1']))
    expect(tried.filter((address) => address === '192.0.2.1')).toHaveLength(1)
    expect(dials.failuresAt('192.0.2.1')).toBe(1)
  })

  it('is charged itself where it leads nowhere, and nobody where nothing was dialled', () => {
    const dials = new ToldDials({ isInside: false }, new VirtualClock())
    const url = new URL('ws://x.example')
    const told = new ToldDial({ isTold: true }, url, dials)
    told.begin()
    told.done('failed', failure)
    expect(dials.failuresAt('x.example')).toBe(1)
    const other = new ToldDial({ isTold: true }, url, dials)
    other.begin()
    expect(() => other.choose([{ address: '10.0.0.1' }])).toThrow('not a public address')
    expect(() => other.choose([])).toThrow('has no address')
    other.done('failed', failure)
    expect(dials.failuresAt('x.example')).toBe(1)
    expect(dials.failuresAt('10.0.0.1')).toBe(0)
  })

  it('keeps all its addresses when nobody told it', () => {
    const found = [{ address: '10.0.0.1' }, { address: '192.0.2.1' }]
    const dials = new ToldDials({ isInside: false }, new VirtualClock())
    expect(new ToldDial({}, new URL('ws://x.example'), dials).choose(found)).toBe(found)
  })
})
