import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net'
import type { NodeId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { testModules } from '../conformance/modules.testkit.ts'
import { Recorder } from '../conformance/recorder.testkit.ts'
import { failureCode, type DialResult } from '../conformance/transport-pair.testkit.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import type { Connection } from '../ports.ts'
import { testCertificate, testCertificateKey } from './tls.testkit.ts'
import { WebSocketTransport } from './web-socket-transport.ts'
import type { WebSocketOptions } from './ws-options.ts'

const anyPort = { host: '127.0.0.1', port: 0 }
const toStop: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of toStop.splice(0).reverse()) await one.stop()
})

async function start(
  name: string,
  options: Omit<WebSocketOptions, 'role'>,
  limits: Partial<ConnectionLimits> = {},
): Promise<WebSocketTransport> {
  const transport = new WebSocketTransport(
    { role: 'node', ...options },
    testModules(name, systemClock, limits),
  )
  toStop.push(transport)
  await transport.start()
  return transport
}

const idOf = (name: string): NodeId => testModules(name, systemClock).identity.nodeId

function dial(transport: WebSocketTransport, url: string, peerId = idOf('server')): Promise<DialResult> {
  return new Promise((resolve) => transport.dial({ peerId, url, onOpen: resolve, onFail: resolve }))
}

describe('listening', () => {
  it('names a taken port and what to do', async () => {
    const first = await start('first', { listen: anyPort })
    const port = Number(new URL(first.url).port)
    const second = new WebSocketTransport(
      { role: 'node', listen: { host: '127.0.0.1', port } },
      testModules('second', systemClock),
    )
    await expect(second.start()).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringContaining(`127.0.0.1:${port}`),
      remedy: expect.stringContaining('another port'),
    })
    expect(second.url).toBe('')
    await first.stop()
    await second.start()
    expect(new URL(second.url).port).toBe(String(port))
    await second.stop()
  })

  it('says why an address or certificate is no good', async () => {
    const refused = (listen: NonNullable<WebSocketOptions['listen']>): Promise<unknown> =>
      expect(start('server', { listen })).rejects.toMatchObject({ code: 'LISTEN_FAILED' })
    await refused({ host: '192.0.2.1', port: 0 })
    await refused({ ...anyPort, publicUrl: 'wss://node.example/path' })
    await refused({ ...anyPort, tls: { cert: 'no certificate', key: 'no key' } })
  })

  it('gives the public URL, and none where it cannot know one', async () => {
    expect((await start('a', { listen: { ...anyPort, publicUrl: 'wss://node.example' } })).url).toBe(
      'wss://node.example',
    )
    expect((await start('b', { listen: { host: '0.0.0.0', port: 0 } })).url).toBe('')
    expect((await start('c', {})).url).toBe('')
  })

  it('shares a server with HTTP, and leaves it to its owner', async () => {
    const http = createServer((_request, response) => response.end('hello'))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    toStop.push({ stop: () => new Promise((resolve) => http.close(resolve)) })
    const server = await start('server', { listen: { server: http } })
    const { port } = http.address() as AddressInfo
    expect(server.url).toBe(`ws://127.0.0.1:${port}`)
    const client = await start('client', {})
    expect(failureCode(await dial(client, server.url))).toBeUndefined()
    const answer = (): Promise<string> =>
      fetch(`http://127.0.0.1:${port}/`).then((response) => response.text())
    expect(await answer()).toBe('hello')
    await server.stop()
    expect(await answer()).toBe('hello')
    http.closeAllConnections()
  })

  it('answers what is no upgrade for it', async () => {
    const server = await start('server', { listen: anyPort })
    const httpUrl = server.url.replace('ws:', 'http:')
    expect((await fetch(httpUrl)).status).toBe(426)
    const statusOf = (url: string, headers: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        request(url, { headers: { Connection: 'Upgrade', Upgrade: 'websocket', ...headers } })
          .on('response', (response: IncomingMessage) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end()
      })
    expect(await statusOf(`${httpUrl}/elsewhere`, {})).toBe(404)
    expect(await statusOf(httpUrl, { 'Sec-WebSocket-Version': '13' })).toBe(400)
  })

  it('takes browsers from any origin', async () => {
    const server = await start('server', { listen: anyPort })
    const socket = new WebSocket(`${server.url}/?from=a-page`, { origin: 'https://page.example' })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    socket.terminate()
  })
})

describe('dialling', () => {
  it.each([
    ['not a url', 'DIAL_FAILED'],
    ['', 'DIAL_FAILED'],
    ['http://127.0.0.1:9', 'DIAL_FAILED'],
    ['ws://127.0.0.1:9', 'DIAL_FAILED'],
    ['ws://host.invalid', 'DIAL_FAILED'],
  ])('fails for %j with %s', async (url, code) => {
    const client = await start('client', {})
    expect(failureCode(await dial(client, url))).toBe(code)
    expect(client.counters.failedDials).toBe(1)
  })

  it('fails when HTTP answers', async () => {
    const server = await start('server', { listen: anyPort })
    const client = await start('client', {})
    const result = await dial(client, `${server.url}/elsewhere`)
    expect(result).toMatchObject({ code: 'DIAL_FAILED', message: expect.stringContaining('404') })
  })

  it('fails when somebody else answers, and the server hears why', async () => {
    const server = await start('server', { listen: anyPort })
    const client = await start('client', {})
    const inbound = new Promise((resolve) => (server.onInbound = resolve))
    expect(failureCode(await dial(client, server.url, idOf('another')))).toBe('PEER_ID_MISMATCH')
    expect(failureCode(await dial(client, server.url))).toBeUndefined()
    await inbound
    expect(server.counters).toMatchObject({ failedHandshakes: 1, opened: 1 })
  })

  it('fails within its time limit when nothing answers', async () => {
    const silent = createTcpServer((socket) => socket.resume())
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    toStop.push({ stop: () => new Promise((resolve) => silent.close(resolve)) })
    const client = await start('client', { dialTimeoutMs: 60 })
    const { port } = silent.address() as AddressInfo
    expect(failureCode(await dial(client, `ws://127.0.0.1:${port}`))).toBe('DIAL_TIMEOUT')
  })

  it('goes over TLS to a certificate it trusts, and to no other', async () => {
    const tls = { cert: testCertificate, key: testCertificateKey }
    const server = await start('server', { listen: { ...anyPort, tls } })
    expect(server.url).toMatch(/^wss:/)
    const trusting = await start('trusting', { trustedCertificates: testCertificate })
    expect(failureCode(await dial(trusting, server.url))).toBeUndefined()
    const usual = await start('usual', {})
    expect(failureCode(await dial(usual, server.url))).toBe('TLS_FAILED')
    const plain = await start('plain', { listen: anyPort })
    expect(failureCode(await dial(usual, plain.url.replace('ws:', 'wss:')))).toBe('TLS_FAILED')
  })
})

describe('limits', () => {
  const silentFrom = async (url: string, localAddress: string): Promise<WebSocket> => {
    const socket = new WebSocket(url, { localAddress })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    return socket
  }

  it('bounds handshakes', async () => {
    const server = await start('server', { listen: anyPort, maxPendingHandshakes: 2 })
    const silent = [await silentFrom(server.url, '127.0.0.1'), await silentFrom(server.url, '127.0.0.2')]
    const client = await start('client', {})
    expect(failureCode(await dial(client, server.url))).toBe('TOO_MANY_CONNECTIONS')
    expect(server.counters.refused).toBe(1)
    const gone = new Promise((resolve) => silent[0]?.once('close', resolve))
    silent[0]?.close()
    await gone
    expect(failureCode(await dial(client, server.url))).toBeUndefined()
    silent[1]?.terminate()
  })

  const overTls = { ...anyPort, tls: { cert: testCertificate, key: testCertificateKey } }
  /** A socket that does not even begin TLS; `closed` says that it is cut off. */
  const mute = async (url: string, localAddress: string): Promise<{ closed: Promise<string> }> => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress })
    toStop.push({ stop: async () => socket.destroy() })
    socket.on('error', () => {}).resume()
    const closed = once(socket, 'close').then(() => localAddress)
    await once(socket, 'connect')
    return { closed }
  }

  it('bounds sockets before TLS, by networks', async () => {
    const server = await start('server', { listen: overTls, maxConnections: 4, maxPendingHandshakes: 2 })
    const closed: Promise<string>[] = []
    for (let host = 1; host <= 7; host++) closed.push((await mute(server.url, `127.0.1.${host}`)).closed)
    expect(await Promise.race(closed)).toBe('127.0.1.7')
    const client = await start('client', { trustedCertificates: testCertificate })
    expect(failureCode(await dial(client, server.url))).toBeUndefined()
    expect(await Promise.race(closed.slice(0, -1))).toBe('127.0.1.6')
    expect(server.counters.evicted).toBe(2)
  })

  it('cuts off who does not finish TLS', async () => {
    const server = await start('server', { listen: overTls }, { handshakeTimeoutMs: 80 })
    await (
      await mute(server.url, '127.0.0.1')
    ).closed
  })

  it('gives the places of handshakes that one network has taken to another', async () => {
    const server = await start('server', { listen: anyPort, maxPendingHandshakes: 8 })
    const silent: WebSocket[] = []
    for (let host = 1; host <= 8; host++) silent.push(await silentFrom(server.url, `127.0.1.${host}`))
    const newestGone = new Promise((resolve) => silent[7]?.once('close', resolve))
    const client = await start('client', {})
    expect(failureCode(await dial(client, server.url))).toBeUndefined()
    await newestGone
    expect(server.counters).toMatchObject({ refused: 0, evicted: 1 })
    await expect(silentFrom(server.url, '127.0.1.9')).resolves.toBeDefined()
    await expect(silentFrom(server.url, '127.0.1.10')).rejects.toThrow('503')
    expect(server.counters).toMatchObject({ refused: 1, evicted: 1 })
  })

  it('gives the places of connections that one network has taken to another', async () => {
    const server = await start('server', { listen: anyPort, maxConnections: 3 })
    const closed: Promise<unknown>[] = []
    for (const name of ['first', 'second', 'third']) {
      const result = await dial(await start(name, {}), server.url)
      if (failureCode(result) !== undefined) throw result
      closed.push(new Recorder(result as Connection).closed)
    }
    const other = await silentFrom(server.url, '127.0.1.1')
    expect(await closed[2]).toMatchObject({ code: 'TOO_MANY_CONNECTIONS', remote: true })
    expect(server.counters).toMatchObject({ opened: 3, refused: 0, evicted: 1 })
    other.terminate()
  })

  it('bounds connections, both ways', async () => {
    const server = await start('server', { listen: anyPort, maxConnections: 1 })
    const first = await start('first', {})
    expect(failureCode(await dial(first, server.url))).toBeUndefined()
    const second = await start('second', { listen: anyPort })
    expect(failureCode(await dial(second, server.url))).toBe('TOO_MANY_CONNECTIONS')
    expect(failureCode(await dial(server, second.url, idOf('second')))).toBe('TOO_MANY_CONNECTIONS')
    expect(server.counters).toMatchObject({ refused: 1, opened: 1, failedDials: 1 })
  })

  it('dials however many strangers have proven nothing', async () => {
    const node = await start('node', { listen: anyPort, maxConnections: 2 })
    for (const host of [1, 2]) await silentFrom(node.url, `127.0.${host}.1`)
    const tracker = await start('tracker', { listen: anyPort })
    expect(failureCode(await dial(node, tracker.url, idOf('tracker')))).toBeUndefined()
  })
})

it('says what address an inbound connection comes from', async () => {
  const server = await start('server', { listen: anyPort })
  const inbound = new Promise<Connection>((resolve) => (server.onInbound = resolve))
  const client = await start('client', {})
  expect(failureCode(await dial(client, server.url))).toBeUndefined()
  expect((await inbound).remoteAddress).toBe('127.0.0.1')
})
