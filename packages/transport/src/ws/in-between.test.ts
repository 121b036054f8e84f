import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  decodePacket,
  encodePacket,
  packetBytes,
  PacketType,
  readPackets,
  type Hello,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { testModules } from '../conformance/modules.testkit.ts'
import { Recorder } from '../conformance/recorder.testkit.ts'
import { failureCode, type DialResult } from '../conformance/transport-pair.testkit.ts'
import { FrameProxy, type Meddle } from './frame-proxy.testkit.ts'
import { WebSocketTransport } from './web-socket-transport.ts'
import type { ListenAddress, ListenServer } from './ws-options.ts'

const anyPort = { host: '127.0.0.1', port: 0 }
const toStop: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of toStop.splice(0).reverse()) await one.stop()
})

async function start(name: string, listen?: ListenAddress | ListenServer): Promise<WebSocketTransport> {
  const options = listen ? { role: 'node' as const, listen } : { role: 'node' as const }
  const transport = new WebSocketTransport(options, testModules(name, systemClock))
  toStop.push(transport)
  await transport.start()
  return transport
}

/** One that is known by another address than the one it listens on, `url`. */
async function startWithPublicUrl(): Promise<{ server: WebSocketTransport; url: string }> {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  toStop.push({ stop: () => new Promise((resolve) => http.close(resolve)) })
  const server = await start('server', { server: http, publicUrl: 'wss://server.example' })
  return { server, url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}` }
}

async function proxyTo(target: string): Promise<FrameProxy> {
  const proxy = await FrameProxy.to(target)
  toStop.push(proxy)
  return proxy
}

function dial(transport: WebSocketTransport, url: string): Promise<DialResult> {
  const peerId = testModules('server', systemClock).identity.nodeId
  return new Promise((resolve) => transport.dial({ peerId, url, onOpen: resolve, onFail: resolve }))
}

describe('somebody who passes a handshake on', () => {
  it('between two that listen has both refuse', async () => {
    const listeners = [await start('a', anyPort), await start('b', anyPort)]
    const opened: unknown[] = []
    for (const listener of listeners) listener.onInbound = (connection) => opened.push(connection)
    const [a, b] = listeners.map(({ url }) => new WebSocket(url)) as [WebSocket, WebSocket]
    const closed = [a, b].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    const early = new Map([a, b].map((socket) => [socket, [] as Buffer[]]))
    for (const socket of [a, b]) socket.on('message', (data: Buffer) => early.get(socket)?.push(data))
    await Promise.all([a, b].map((socket) => new Promise((resolve) => socket.once('open', resolve))))
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      from.removeAllListeners('message')
      for (const frame of early.get(from) ?? []) to.send(frame)
      from.on('message', (frame: Buffer) => to.send(frame))
    }
    await Promise.all(closed)
    expect(opened).toEqual([])
    expect(listeners.map(({ counters }) => counters.failedHandshakes)).toEqual([1, 1])
  })

  it('from an address of its own is refused by one that knows its address', async () => {
    const { server, url } = await startWithPublicUrl()
    const proxy = await proxyTo(url)
    const client = await start('client')
    expect(await dial(client, proxy.url)).toMatchObject({
      code: 'HANDSHAKE_FAILED',
      message: expect.stringContaining('dialled as 127.0.0.1'),
    })
    expect(server.counters.opened).toBe(0)
    expect(failureCode(await dial(client, url))).toBeUndefined()
    expect(failureCode(await dial(client, url.replace('127.0.0.1', 'localhost')))).toBeUndefined()
  })

  it('cannot say that another address was dialled', async () => {
    const { server, url } = await startWithPublicUrl()
    const proxy = await proxyTo(url)
    proxy.toServer = (frame, index) => [
      index === 0 ? changedHello(frame, { address: 'server.example:443' }) : frame,
    ]
    expect(failureCode(await dial(await start('client'), proxy.url))).toBe('HANDSHAKE_FAILED')
    expect(server.counters.opened).toBe(0)
  })

  it.each<[string, Partial<Hello>]>([
    ['its role', { role: 'tracker' }],
    ['its key', { nonce: new Uint8Array(32).fill(9) }],
    ['its cipher', { sealing: 'chacha20-poly1305' }],
    ['its agent', { agent: 'somebody else' }],
    ['its versions', { versions: { oldest: 0, newest: 9 } }],
    ['its capabilities', { capabilities: [{ name: 'x', required: false }] }],
  ])('cannot change what a side says of %s', async (_, change) => {
    const server = await start('server', anyPort)
    for (const direction of ['toServer', 'toClient'] as const) {
      const proxy = await proxyTo(server.url)
      proxy[direction] = (frame, index) => [index === 0 ? changedHello(frame, change) : frame]
      expect(failureCode(await dial(await start('client'), proxy.url))).toBe('HANDSHAKE_FAILED')
    }
    expect(server.counters.opened).toBe(0)
  })
})

function changedHello(frame: Uint8Array, change: Partial<Hello>): Uint8Array {
  const [raw] = readPackets(frame)
  return encodePacket({ ...(decodePacket(PacketType.hello, raw?.body ?? frame) as Hello), ...change })
}

describe('somebody who changes what is sent on an open link', () => {
  const held: Uint8Array[] = []
  /** Each does something to the second frame that it sees, or with it. */
  const cases: [string, Meddle][] = [
    ['changes a bit of', (frame, index) => [index === 1 ? frame.with(3, (frame[3] ?? 0) ^ 1) : frame]],
    ['cuts the end off', (frame, index) => [index === 1 ? frame.subarray(0, -1) : frame]],
    ['leaves nothing of', (frame, index) => [index === 1 ? frame.subarray(0, 0) : frame]],
    ['adds a byte to', (frame, index) => [index === 1 ? Uint8Array.of(...frame, 0) : frame]],
    ['puts a packet of its own before', (frame, index) => (index === 1 ? [numbered(99), frame] : [frame])],
    [
      'repeats the frame before',
      (frame, index) => (held.push(frame), index === 1 ? [held[0] ?? frame] : [frame]),
    ],
    ['drops', (frame, index) => (index === 1 ? [] : [frame])],
    [
      'swaps with the next one',
      (frame, index) => (
        held.push(frame),
        index === 1 ? [] : index === 2 ? [frame, held[1] ?? frame] : [frame]
      ),
    ],
  ]
  const directions = ['toServer', 'toClient'] as const

  it.each(directions.flatMap((direction) => cases.map(([what, meddle]) => ({ what, direction, meddle }))))(
    'that $what a frame $direction ends it, and nothing of that is delivered',
    async ({ direction, meddle }) => {
      const server = await start('server', anyPort)
      const inbound = new Promise<Recorder>((resolve) => {
        server.onInbound = (connection) => resolve(new Recorder(connection))
      })
      const proxy = await proxyTo(server.url)
      const result = await dial(await start('client'), proxy.url)
      if (failureCode(result) !== undefined) throw result
      const client = new Recorder(result as Exclude<typeof result, Error>)
      const listener = await inbound
      const [from, to] = direction === 'toServer' ? [client, listener] : [listener, client]
      await settlePings(from, to)
      held.length = 0
      let count = 0
      proxy[direction] = (frame) => meddle(frame, count++)
      for (let index = 0; index < 4; index++) {
        from.connection.send(numbered(index))
        // A frame of its own.
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(await to.closed).toMatchObject({ code: 'NOT_AUTHENTIC', remote: false })
      expect(await from.closed).toMatchObject({ remote: false })
      expect(to.packets.map(({ body }) => [...body])).toEqual([[100], [102], [0]])
    },
  )
})

/** Afterwards both first pings have come and were answered, so that what is sent next is the next frame. */
async function settlePings(from: Recorder, to: Recorder): Promise<void> {
  from.connection.send(numbered(100))
  await to.count(1)
  to.connection.send(numbered(101))
  await from.count(1)
  from.connection.send(numbered(102))
  await to.count(2)
}

function numbered(number: number): Uint8Array {
  return packetBytes(0x10, Uint8Array.of(number))
}

describe('a peer of version 1', () => {
  /** As version 1 sent it: version, role, id, nonce, no agent. */
  const hello = packetBytes(
    PacketType.hello,
    Uint8Array.of(1, 0, ...new Uint8Array(20), ...new Uint8Array(32), 0),
  )

  it('that dials is told', async () => {
    const server = await start('server', anyPort)
    const socket = new WebSocket(server.url)
    const frames: Uint8Array[] = []
    socket.on('message', (data: Buffer) => frames.push(data))
    socket.once('open', () => socket.send(hello))
    await new Promise((resolve) => socket.once('close', resolve))
    const [raw] = readPackets(frames.at(-1) ?? new Uint8Array())
    expect(raw && decodePacket(raw.type, raw.body)).toMatchObject({ code: 'UNSUPPORTED_VERSION' })
  })

  it('that listens is told, and the dial says why it failed', async () => {
    const old = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    toStop.push({ stop: () => new Promise((resolve) => old.close(resolve)) })
    await new Promise((resolve) => old.once('listening', resolve))
    const told = new Promise<Uint8Array[]>((resolve) =>
      old.once('connection', (socket) => {
        const frames: Uint8Array[] = []
        socket.on('message', (data: Buffer) => frames.push(data))
        socket.once('close', () => resolve(frames))
        socket.send(hello)
      }),
    )
    const url = `ws://127.0.0.1:${(old.address() as AddressInfo).port}`
    expect(failureCode(await dial(await start('client'), url))).toBe('UNSUPPORTED_VERSION')
    const [theirHello, farewell] = await told
    expect(theirHello?.[2]).toBe(3)
    const [raw] = readPackets(farewell ?? new Uint8Array())
    expect(raw && decodePacket(raw.type, raw.body)).toMatchObject({ code: 'UNSUPPORTED_VERSION' })
  })
})
