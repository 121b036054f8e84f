import { connect, type Socket } from 'node:net'
import {
  decodePacket,
  encodePacket,
  packetBytes,
  PacketType,
  readPackets,
  type Close,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { testModules } from '../conformance/modules.testkit.ts'
import { Recorder } from '../conformance/recorder.testkit.ts'
import { Handshake } from '../connection/handshake.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import { nodeSuite } from '../noise/node-suite.ts'
import { WebSocketTransport } from './web-socket-transport.ts'

let server: WebSocketTransport
let opened: Recorder[]
const serverModules = testModules('server', systemClock)
const attacker = testModules('attacker', systemClock)
const channel = { binding: new Uint8Array(0), noise: nodeSuite }

async function startServer(limits: Partial<ConnectionLimits> = {}): Promise<void> {
  opened = []
  const listen = { host: '127.0.0.1', port: 0 }
  server = new WebSocketTransport({ role: 'node', listen }, { ...serverModules, limits })
  server.onInbound = (connection) => opened.push(new Recorder(connection))
  await server.start()
}

beforeEach(() => startServer())
afterEach(() => server.stop())

/** A WebSocket client that speaks for itself, and the frames it was sent, opened where they were sealed. */
class RawClient {
  readonly socket = new WebSocket(server.url)
  readonly frames: Uint8Array[] = []
  readonly closed = new Promise<void>((resolve) => this.socket.once('close', () => resolve()))
  readonly handshake = new Handshake({ role: 'node', direction: 'outbound', channel }, attacker)
  readonly #readHello: (body: Uint8Array) => Uint8Array
  #wake: () => void = () => {}

  /** `readHello` may take the server's hello for another. */
  constructor(readHello = (body: Uint8Array) => body) {
    this.#readHello = readHello
    this.socket.on('error', () => {})
    this.socket.on('message', (data: Buffer) => this.#received(new Uint8Array(data)))
  }

  #received(frame: Uint8Array): void {
    if (this.frames.length === 0) this.handshake.receiveHello(this.#readHello(bodyOf(frame)))
    this.frames.push(this.frames.length === 0 ? frame : (this.handshake.open(frame) ?? frame))
    this.#wake()
  }

  async frame(index: number): Promise<Uint8Array> {
    while (this.frames.length <= index) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.frames[index] as Uint8Array
  }

  async connected(): Promise<this> {
    await new Promise((resolve) => this.socket.once('open', resolve))
    return this
  }

  /** Says hello, awaits the answer and returns our proof, not sealed. */
  async greeted(): Promise<Uint8Array> {
    this.socket.send(this.handshake.hello())
    // The server's hello and its proof.
    await this.frame(1)
    return this.handshake.proof()
  }

  /** As the next frame of the session. */
  sealed(frame: Uint8Array): Uint8Array {
    return this.handshake.session?.sending.seal(frame) ?? frame
  }

  async open(): Promise<Recorder> {
    await this.connected()
    const before = opened.length
    this.socket.send(this.sealed(await this.greeted()))
    // The server's first ping.
    await this.frame(2)
    return opened[before] as Recorder
  }

  /** Why the server closed. */
  async goodbye(): Promise<string> {
    await this.closed
    const raw = readPackets(this.frames.at(-1) ?? new Uint8Array()).at(-1)
    return raw?.type === PacketType.close ? (decodePacket(raw.type, raw.body) as Close).code : 'none'
  }
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

function bodyOf(frame: Uint8Array): Uint8Array {
  return readPackets(frame)[0]?.body ?? new Uint8Array()
}

/** The server still takes honest nodes. */
async function expectServerGoesOn(): Promise<void> {
  const node = new WebSocketTransport({ role: 'node' }, testModules('honest', systemClock))
  await node.start()
  const connection = await new Promise((resolve, reject) =>
    node.dial({ peerId: serverModules.identity.nodeId, url: server.url, onOpen: resolve, onFail: reject }),
  )
  expect(connection).toMatchObject({ peerId: serverModules.identity.nodeId })
  await node.stop()
}

describe('before the handshake is done', () => {
  const ownId = new Handshake({ role: 'node', direction: 'outbound', channel }, serverModules).hello()
  const otherVersion = (hello: Uint8Array): Uint8Array => hello.with(2, 99)
  const cases: [string, (client: RawClient) => Promise<Uint8Array[]> | Uint8Array[], string][] = [
    ['random bytes', () => [Uint8Array.of(0xde, 0xad, 0xbe, 0xef)], 'PROTOCOL_VIOLATION'],
    ['an empty frame', () => [new Uint8Array(0)], 'PROTOCOL_VIOLATION'],
    ['a frame above 4 KiB', () => [packetBytes(1, new Uint8Array(5000))], 'FRAME_TOO_LARGE'],
    ['data', () => [packetBytes(PacketType.data, new Uint8Array(8))], 'HANDSHAKE_FAILED'],
    ['a ping', () => [encodePacket({ type: 'ping', token: 1 })], 'HANDSHAKE_FAILED'],
    ['a hello with our own id', () => [ownId], 'HANDSHAKE_FAILED'],
    ['two hellos', ({ handshake }) => [handshake.hello(), handshake.hello()], 'HANDSHAKE_FAILED'],
    [
      'a hello of another version',
      ({ handshake }) => [otherVersion(handshake.hello())],
      'UNSUPPORTED_VERSION',
    ],
    [
      'a proof before a hello',
      () => [encodePacket({ type: 'proof', signature: new Uint8Array(65) })],
      'HANDSHAKE_FAILED',
    ],
    [
      'data behind a hello',
      ({ handshake }) => [join(handshake.hello(), packetBytes(PacketType.data, new Uint8Array(8)))],
      'HANDSHAKE_FAILED',
    ],
    [
      'a hello that wants nothing sealed',
      () => [
        new Handshake(
          { role: 'node', direction: 'outbound', channel: { binding: channel.binding } },
          attacker,
        ).hello(),
      ],
      'HANDSHAKE_FAILED',
    ],
    ['a key of low order', ({ handshake }) => [handshake.hello().fill(0, 25, 57)], 'HANDSHAKE_FAILED'],
    [
      'data between hello and proof',
      async (client) => {
        await client.greeted()
        return [client.sealed(packetBytes(PacketType.data, new Uint8Array(8)))]
      },
      'HANDSHAKE_FAILED',
    ],
    ['a proof that is not sealed', async (client) => [await client.greeted()], 'HANDSHAKE_FAILED'],
    [
      'hello and proof in one frame',
      ({ handshake }) => [
        join(handshake.hello(), encodePacket({ type: 'proof', signature: new Uint8Array(65) })),
      ],
      'HANDSHAKE_FAILED',
    ],
    [
      'a signature of zeros',
      async (client) => {
        await client.greeted()
        return [client.sealed(encodePacket({ type: 'proof', signature: new Uint8Array(65) }))]
      },
      'HANDSHAKE_FAILED',
    ],
    [
      'the hello and proof of the server itself',
      async (client) => {
        client.socket.send(client.handshake.hello())
        return [await client.frame(0), await client.frame(1)]
      },
      'HANDSHAKE_FAILED',
    ],
    ["the server's own hello", async (client) => [await client.frame(0)], 'HANDSHAKE_FAILED'],
    [
      "the server's own proof",
      async (client) => {
        await client.greeted()
        return [client.sealed(await client.frame(1))]
      },
      'HANDSHAKE_FAILED',
    ],
  ]
  it.each(cases)('%s ends the connection', async (_name, make, code) => {
    const client = await new RawClient().connected()
    for (const frame of await make(client)) client.socket.send(frame)
    expect(await client.goodbye()).toBe(code)
    expect(opened).toEqual([])
    await expectServerGoesOn()
  })

  it('a proof behind a farewell in its frame opens nothing', async () => {
    const client = await new RawClient().connected()
    const proof = await client.greeted()
    const farewell = encodePacket({ type: 'close', code: 'IDLE', reason: '' })
    client.socket.send(client.sealed(Buffer.concat([farewell, proof])))
    await client.closed
    expect(opened).toEqual([])
    expect(server.counters).toMatchObject({ opened: 0, failedHandshakes: 1 })
  })

  it('a proof of one connection opens no other', async () => {
    const first = new RawClient()
    await first.open()
    const second = await new RawClient().connected()
    await second.greeted()
    second.socket.send(second.sealed(first.handshake.proof()))
    expect(await second.goodbye()).toBe('HANDSHAKE_FAILED')
    expect(opened.length).toBe(1)
    expect(server.counters.failedHandshakes).toBe(1)
    first.socket.terminate()
  })

  it('a proof for another verifier opens nothing', async () => {
    // The client takes the server for somebody else, and signs and seals for that one.
    const client = await new RawClient((body) => body.with(5, (body[5] ?? 0) ^ 1)).connected()
    client.socket.send(await client.greeted())
    await client.closed
    expect(server.counters.failedHandshakes).toBe(1)
    expect(opened).toEqual([])
  })

  it('whoever stays silent is cut off, at every step', async () => {
    await server.stop()
    await startServer({ handshakeTimeoutMs: 80 })
    const tcp = connect(Number(new URL(server.url).port), '127.0.0.1')
    const silent = await new RawClient().connected()
    const halfway = await new RawClient().connected()
    halfway.socket.send(halfway.handshake.hello())
    expect(await silent.goodbye()).toBe('HANDSHAKE_TIMEOUT')
    expect(await halfway.goodbye()).toBe('HANDSHAKE_TIMEOUT')
    tcp.resume()
    await new Promise((resolve) => tcp.once('close', resolve))
    expect(server.counters.failedHandshakes).toBe(2)
  })
})

describe('after the handshake', () => {
  const cases: [string, Uint8Array[], string][] = [
    ['garbage', [Uint8Array.of(0x10, 0xff, 0xff, 0xff, 0xff, 0xff)], 'PROTOCOL_VIOLATION'],
    ['a piece of nothing', [packetBytes(PacketType.piece, Uint8Array.of(1, 0, 2, 9))], 'PROTOCOL_VIOLATION'],
    ['an empty frame', [new Uint8Array(0)], 'PROTOCOL_VIOLATION'],
    ['a malformed ping', [packetBytes(PacketType.ping, new Uint8Array(3))], 'PROTOCOL_VIOLATION'],
    ['a late hello', [packetBytes(PacketType.hello, new Uint8Array(60))], 'PROTOCOL_VIOLATION'],
    ['an empty fragment', [packetBytes(PacketType.fragment, Uint8Array.of(0))], 'PROTOCOL_VIOLATION'],
    [
      'a packet between fragments',
      [packetBytes(PacketType.fragment, Uint8Array.of(0, 1)), packetBytes(0x10, Uint8Array.of(1))],
      'PROTOCOL_VIOLATION',
    ],
    [
      'a link packet in fragments',
      [packetBytes(PacketType.fragment, Uint8Array.of(1, ...encodePacket({ type: 'ping', token: 1 })))],
      'PROTOCOL_VIOLATION',
    ],
    [
      'more pings than allowed',
      Array.from({ length: 101 }, (_, token) => encodePacket({ type: 'ping', token })),
      'PROTOCOL_VIOLATION',
    ],
  ]
  it.each(cases)('%s ends the connection', async (_name, frames, code) => {
    const client = new RawClient()
    const recorder = await client.open()
    for (const frame of frames) client.socket.send(client.sealed(frame))
    expect(await client.goodbye()).toBe(code)
    expect(await recorder.closed).toMatchObject({ code, remote: false })
    await expectServerGoesOn()
  })

  it('text and frames above the limit end the connection', async () => {
    const texter = new RawClient()
    const ofTexter = await texter.open()
    texter.socket.send('text')
    expect(await ofTexter.closed).toMatchObject({ code: 'PROTOCOL_VIOLATION' })
    const giant = new RawClient()
    const ofGiant = await giant.open()
    giant.socket.send(new Uint8Array(3 * 1024 * 1024))
    expect(await ofGiant.closed).toMatchObject({ code: 'FRAME_TOO_LARGE' })
    await expectServerGoesOn()
  })

  it('a pong nobody asked for is ignored', async () => {
    const client = new RawClient()
    const recorder = await client.open()
    client.socket.send(client.sealed(encodePacket({ type: 'pong', token: 12345 })))
    client.socket.send(client.sealed(packetBytes(0x10, new Uint8Array(1))))
    await recorder.count(1)
    expect(recorder.connection.rttMs).toBeUndefined()
    client.socket.terminate()
    expect(await recorder.closed).toMatchObject({ code: 'CONNECTION_LOST' })
  })

  it('a packet of a later version is the owner’s to count, also with a number of the link’s and in fragments', async () => {
    const client = new RawClient()
    const recorder = await client.open()
    const later = packetBytes(0x0f, Uint8Array.of(1, 2))
    client.socket.send(client.sealed(later))
    client.socket.send(client.sealed(packetBytes(PacketType.fragment, Uint8Array.of(1, ...later))))
    await recorder.count(2)
    expect(recorder.packets.map(({ type }) => type)).toEqual([0x0f, 0x0f])
    client.socket.terminate()
  })

  it('packets in the frame of the proof are delivered, after the owner had its turn', async () => {
    const client = await new RawClient().connected()
    const proof = await client.greeted()
    const packet = packetBytes(0x10, Uint8Array.of(7))
    client.socket.send(client.sealed(join(proof, packet, packet)))
    await client.frame(2)
    await opened[0]?.count(2)
    expect(opened[0]?.packets.map(({ body }) => [...body])).toEqual([[7], [7]])
    client.socket.terminate()
  })

  it('a close is heard between fragments', async () => {
    const client = new RawClient()
    const recorder = await client.open()
    client.socket.send(client.sealed(packetBytes(PacketType.fragment, Uint8Array.of(0, 1))))
    client.socket.send(client.sealed(encodePacket({ type: 'close', code: 'SHUTTING_DOWN', reason: 'bye' })))
    expect(await recorder.closed).toEqual({ code: 'SHUTTING_DOWN', text: 'bye', remote: true })
  })

  it('a close reason of the peer is shown only in its safe form', async () => {
    const client = new RawClient()
    const recorder = await client.open()
    client.socket.send(
      client.sealed(
        encodePacket({ type: 'close', code: '<script>', reason: '\u202ehidden\n' + 'x'.repeat(400) }),
      ),
    )
    expect(await recorder.closed).toEqual({
      code: 'UNKNOWN',
      text: 'hidden ' + 'x'.repeat(152),
      remote: true,
    })
  })

  it('WebSocket pings without reading pile up nothing', async () => {
    const client = new RawClient()
    const recorder = await client.open()
    const raw = (client.socket as unknown as { _socket: Socket })._socket
    raw.pause()
    for (let i = 0; i < 20_000; i++) client.socket.ping(new Uint8Array(100))
    client.socket.send(client.sealed(packetBytes(0x10, new Uint8Array(1))))
    await recorder.count(1)
    expect(recorder.connection.queuedBytes).toBeLessThan(512 * 1024)
    client.socket.terminate()
    await recorder.closed
  })
})
