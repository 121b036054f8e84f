import { connect, type Socket } from 'node:net'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { failureCode, type DialResult } from '../conformance/transport-pair.testkit.ts'
import { Handshake } from '../connection/handshake.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import { nodeSuite } from '../noise/node-suite.ts'
import { TcpProxy } from '../ws/tcp-proxy.testkit.ts'
import { ToldDials } from '../ws/told-dials.ts'
import { FrameReader, headerOf } from './frame-reader.ts'
import { TcpTransport, type TcpOptions } from './tcp-transport.ts'

const toStop: TcpTransport[] = []
afterEach(async () => void (await Promise.all(toStop.splice(0).map((transport) => transport.stop()))))
const listen = { host: '127.0.0.1', port: 0 }

async function start(
  name: string,
  options: Partial<TcpOptions> = {},
  limits: Partial<ConnectionLimits> = {},
  isInside?: boolean,
): Promise<TcpTransport> {
  const toldDials = new ToldDials({ isInside }, systemClock)
  const modules = { ...testModules(name, systemClock, limits), toldDials }
  const transport = new TcpTransport({ role: 'node', ...options }, modules)
  toStop.push(transport)
  await transport.start()
  return transport
}

const urlOf = ({ addresses: [url = ''] }: TcpTransport): string => url

function dial(transport: TcpTransport, url: string, isTold = false): Promise<DialResult> {
  const { nodeId: peerId } = testModules('server', systemClock).identity
  return new Promise((resolve) => transport.dial({ peerId, url, isTold, onOpen: resolve, onFail: resolve }))
}

/** Somebody who speaks for himself; `closed` resolves when the server has cut him off. */
function rawClient(
  server: TcpTransport,
  options: { readonly allowHalfOpen?: boolean } = {},
): { readonly socket: Socket; readonly closed: Promise<void> } {
  const socket = connect({ port: Number(urlOf(server).split(':').at(-1)), host: '127.0.0.1', ...options })
  socket.on('error', () => {})
  socket.resume()
  return { socket, closed: new Promise((resolve) => socket.once('close', () => resolve())) }
}

async function expectServerGoesOn(server: TcpTransport): Promise<void> {
  expect(failureCode(await dial(await start('honest'), urlOf(server)))).toBeUndefined()
}

describe('a TCP listener', () => {
  it.each([
    ['another protocol', 'GET / HTTP/1.1\r\n\r\n'],
    ['a frame that is no packet', Buffer.from([0, 0, 0, 2, 0xff, 0xff])],
    ['an empty frame', Buffer.from([0, 0, 0, 0])],
    [
      'a frame larger than a handshake has',
      Buffer.concat([Buffer.from([0, 0, 0x20, 0]), Buffer.alloc(0x2000)]),
    ],
  ])('cuts off who sends %s', async (_, bytes) => {
    const server = await start('server', { listen }, { closeTimeoutMs: 20 })
    const { socket, closed } = rawClient(server)
    socket.write(bytes)
    await closed
    await expectServerGoesOn(server)
  })

  it('cuts off who says nothing, and who says it too slowly', async () => {
    const server = await start('server', { listen }, { handshakeTimeoutMs: 50, closeTimeoutMs: 20 })
    const silent = rawClient(server)
    const slow = rawClient(server)
    slow.socket.write(Buffer.from([0, 0, 1, 0, 1]))
    await Promise.all([silent.closed, slow.closed])
  })

  it('has room for so many handshakes, and the newest of a network gives way', async () => {
    const server = await start('server', { listen, maxPendingHandshakes: 2 })
    const clients = [rawClient(server), rawClient(server), rawClient(server)]
    await Promise.race(clients.map(({ closed }) => closed))
    for (const { socket } of clients) socket.destroy()
    await Promise.all(clients.map(({ closed }) => closed))
  })

  it('stops though somebody who said hello keeps his half of the socket open', async () => {
    const server = await start('server', { listen }, { closeTimeoutMs: 20 })
    const { socket, closed } = rawClient(server, { allowHalfOpen: true })
    const channel = { binding: new Uint8Array(0), noise: nodeSuite }
    const options = { channel, direction: 'outbound', role: 'node' } as const
    const hello = new Handshake(options, testModules('half', systemClock)).hello()
    socket.write(Buffer.concat([headerOf(hello), hello]))
    // Behind the server's hello comes its proof: it has the keys.
    await new Promise<void>((resolve) => {
      let frames = 0
      const reader = new FrameReader(4096, () => ++frames === 2 && resolve())
      socket.on('data', (chunk) => reader.read(chunk))
    })
    await server.stop()
    socket.end()
    await closed
  })

  it('is where its public URL says, and refuses who dialled elsewhere', async () => {
    const former = await start('server', { listen })
    const port = Number(urlOf(former).split(':').at(-1))
    await former.stop()
    const publicUrl = 'tcp://node.example:4000'
    const server = await start('server', { listen: { ...listen, port, publicUrl } })
    expect(server.addresses).toEqual([publicUrl])
    const proxy = await TcpProxy.to(port)
    const client = await start('client')
    expect(failureCode(await dial(client, `tcp://127.0.0.1:${port}`))).toBeUndefined()
    expect(failureCode(await dial(client, proxy.url.replace('ws:', 'tcp:')))).toBe('HANDSHAKE_FAILED')
    await proxy.stop()
    await expect(start('b', { listen: { ...listen, publicUrl: 'tcp://node.example/path' } })).rejects.toThrow(
      expect.objectContaining({ code: 'LISTEN_FAILED' }),
    )
  })

  it('says when its port is taken', async () => {
    const port = Number(
      urlOf(await start('server', { listen }))
        .split(':')
        .at(-1),
    )
    await expect(start('second', { listen: { ...listen, port } })).rejects.toThrow(
      expect.objectContaining({ code: 'PORT_IN_USE' }),
    )
  })
})

describe('dialling by TCP', () => {
  it.each(['', 'ws://127.0.0.1:4000', 'tcp://127.0.0.1:4000/path', 'tcp://user@127.0.0.1:4000', 'tcp://'])(
    'is not done at %j',
    async (url) => expect(failureCode(await dial(await start('client'), url))).toBe('DIAL_FAILED'),
  )

  it('goes to no local address that others name, from outside', async () => {
    const server = await start('server', { listen })
    const [, , port] = urlOf(server).split(':')
    const outside = await start('client', {}, {}, false)
    for (const host of ['127.0.0.1', '127.1', '0x7f000001', 'localhost'])
      expect(await dial(outside, `tcp://${host}:${port}`, true)).toMatchObject({
        code: 'DIAL_FAILED',
        message: expect.stringContaining('not a public address'),
      })
    expect(failureCode(await dial(outside, urlOf(server)))).toBeUndefined()
    expect(failureCode(await dial(outside, urlOf(server), true))).toBeUndefined()
  })

  it('goes to no port of another protocol that others name', async () => {
    expect(await dial(await start('client'), 'tcp://192.0.2.1:25', true)).toMatchObject({
      message: expect.stringContaining('port 25'),
    })
  })
})
