import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { RunnelClient } from '@runnel/client'
import { toNodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GatewayAccount } from '../access/account.ts'
import { createGateway } from '../gateway.ts'
import { gatewayLimits } from '../limits.ts'
import { GatewayWebSockets } from '../websocket/websocket-server.ts'
import { buildHttpGateway } from './http-gateway.ts'

const path = '/v1/streams/%2Fa/messages'

/** A gateway on a virtual clock, with one key whose client publishes nowhere. */
class World {
  readonly clock = new VirtualClock()
  readonly server
  readonly gateway
  readonly sockets: Socket[] = []
  acquiring: Promise<void> = Promise.resolve()
  connections = 0
  published = 0
  taken = 0
  clients = 0
  #isInForce = true
  #ended = (_name: string) => {}

  constructor() {
    const userId = toNodeId(`0x${'a'.repeat(40)}`)
    const client = {
      publish: (streamId: string) => {
        this.published++
        return Promise.resolve({ streamId, neighbours: 1 })
      },
      stopPublishing: () => Promise.resolve(),
      writable: () => Promise.resolve(),
    } as unknown as RunnelClient
    const account: GatewayAccount = {
      ...{ name: 'known', userId, identity: '', maxMessageBytes: 100 },
      acquire: async () => {
        await this.acquiring
        this.clients++
        return { client, release: () => this.clients-- }
      },
      mayPublish: () => true,
      maySubscribe: () => true,
      maySubscribeToSome: () => true,
      burst: { messages: 10, bytes: 100 },
      takeRate: () => {
        this.taken++
        return 0
      },
      connect: () => {
        this.connections++
        return () => this.connections--
      },
    }
    const gateway = (this.gateway = createGateway(
      {
        accountOf: (credential) => ('key' in credential && credential.key === 'good' ? account : undefined),
        accountNamed: () => (this.#isInForce ? account : undefined),
        failed: () => 0,
        on: (_event, listener) => {
          this.#ended = listener
          return () => {}
        },
      },
      this.clock,
    ))
    gateway.callers.start()
    this.server = buildHttpGateway(
      { clientCertificates: false, corsOrigins: [], maxConnectionsPerAddress: 3 },
      gateway,
    )
    const webSockets = new GatewayWebSockets(gateway, [])
    this.server.server.on('upgrade', (...args) => void webSockets.upgrade(...args))
  }

  endKey(): void {
    this.#isInForce = false
    this.#ended('known')
  }

  /** A socket that says this, and never closes its side. */
  async open(line: string, headers: readonly string[], body = '') {
    const { port } = this.server.server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.sockets.push(socket)
    await once(socket, 'connect')
    const got: Buffer[] = []
    socket.on('data', (data: Buffer) => got.push(data))
    socket.on('error', () => {})
    socket.write([`${line} HTTP/1.1`, 'host: gateway', ...headers, '', body].join('\r\n'))
    return { socket, text: () => Buffer.concat(got).toString() }
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await this.server.close()
  }
}

const known = 'authorization: Bearer good'
const lines = [known, 'content-type: application/x-ndjson', 'transfer-encoding: chunked']
const upgrade = [
  ...['upgrade: websocket', 'connection: upgrade', 'sec-websocket-version: 13'],
  `sec-websocket-key: ${'A'.repeat(22)}==`,
]

describe('the HTTP gateway', () => {
  let world: World
  beforeEach(async () => {
    world = new World()
    await world.server.listen({ host: '127.0.0.1', port: 0 })
  })
  afterEach(() => world.stop())

  /** Connections that the server still has. */
  const open = () =>
    new Promise<number>((resolve) => world.server.server.getConnections((_, n) => resolve(n)))

  it('closes the connection of who has no key, whatever else it would send', async () => {
    const { socket, text } = await world.open(`POST ${path}`, ['content-length: 100'], 'x')
    await once(socket, 'end')
    expect(text()).toMatch(/^HTTP\/1.1 401 /)
    expect(text()).toContain('GATEWAY_KEY_MISSING')
    await expect.poll(open).toBe(0)
    const refused = await world.open('GET /v1/ws', upgrade)
    await once(refused.socket, 'end')
    expect(refused.text()).toMatch(/^HTTP\/1.1 401 /)
    await expect.poll(open).toBe(0)
  })

  it('has so many connections of one address, whether they show a key or not', async () => {
    for (let i = 0; i < 3; i++) await world.open('GET /openapi.json', [])
    await expect.poll(open).toBe(3)
    const { socket, text } = await world.open('GET /openapi.json', [known])
    await expect.poll(() => socket.readableEnded || socket.destroyed).toBe(true)
    expect(text()).toBe('')
    expect(await open()).toBe(3)
    world.sockets[0]?.destroy()
    await expect.poll(open).toBe(2)
    const { text: answer } = await world.open('GET /openapi.json', [])
    await expect.poll(answer).toMatch(/^HTTP\/1.1 200 /)
  })

  it('hangs up on a body that does not come in time', async () => {
    await world.open(`POST ${path}`, [known, 'content-length: 100'], 'x')
    await expect.poll(() => world.clock.nextAtMs).toBeDefined()
    world.clock.advanceBy(gatewayLimits.bodyMs - 1)
    expect(await open()).toBe(1)
    world.clock.advanceBy(1)
    await expect.poll(open).toBe(0)
  })

  it('takes lines for as long as some come, as one of the connections of the key', async () => {
    await world.open(`POST ${path}`, lines, '2\r\n1\n\r\n')
    await expect.poll(() => world.connections).toBe(1)
    world.clock.advanceBy(gatewayLimits.idleMs - 1)
    expect(await open()).toBe(1)
    world.clock.advanceBy(1)
    await expect.poll(open).toBe(0)
    await expect.poll(() => [world.connections, world.clients]).toEqual([0, 0])
  })

  it('takes lines without anything from the rate of the key, too', async () => {
    await world.open(`POST ${path}`, lines, '8\r\n1\n\n \n\n2\n\n\r\n')
    await expect.poll(() => [world.taken, world.published]).toEqual([5, 2])
  })

  it.each([
    ['the key ends', () => world.endKey(), 401, 'GATEWAY_KEY_ENDED'],
    ['the gateway stops', () => world.gateway.callers.endAll(), 503, 'GATEWAY_STOPPING'],
  ] as const)(
    'publishes no more of many lines when %s, and says how many it did',
    async (_, end, status, code) => {
      const { socket, text } = await world.open(`POST ${path}`, lines, '4\r\n1\n2\n\r\n')
      await expect.poll(() => world.published).toBe(2)
      end()
      socket.write('4\r\n3\n4\n\r\n')
      await once(socket, 'end')
      expect(text().startsWith(`HTTP/1.1 ${status} `)).toBe(true)
      expect(text()).toContain(code)
      expect([world.published, world.connections, world.clients]).toEqual([2, 0, 0])
    },
  )

  it('publishes nothing whose body comes after its key has ended', async () => {
    const { socket, text } = await world.open(`POST ${path}`, [known, 'content-length: 2'], '1')
    await expect.poll(() => world.clock.nextAtMs).toBeDefined()
    world.endKey()
    socket.write('2')
    await expect.poll(text).toContain('GATEWAY_KEY_ENDED')
    expect([world.published, world.clients]).toEqual([0, 0])
  })

  it('holds nothing for who goes away while the client of its key is opened', async () => {
    for (const rest of ['messages?last=1', 'events']) {
      const { promise, resolve } = Promise.withResolvers<void>()
      world.acquiring = promise
      const { socket } = await world.open(`GET /v1/streams/%2Fa/${rest}`, [known])
      await expect.poll(() => world.connections).toBe(1)
      socket.destroy()
      await expect.poll(open).toBe(0)
      resolve()
      await expect.poll(() => [world.connections, world.clients]).toEqual([0, 0])
    }
  })

  it('opens no WebSocket whose key ends while its client is opened', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    world.acquiring = promise
    const { socket, text } = await world.open('GET /v1/ws', [...upgrade, known])
    await expect.poll(() => world.connections).toBe(1)
    world.endKey()
    resolve()
    await once(socket, 'end')
    expect(text()).toMatch(/^HTTP\/1.1 401 /)
    expect([world.connections, world.clients]).toEqual([0, 0])
  })
})
