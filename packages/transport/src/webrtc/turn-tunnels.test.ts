import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { maxRepeats } from './check-repeats.ts'
import { toStream } from './stun-stream.ts'
import { TurnTunnels } from './turn-tunnels.ts'

const stops: (() => unknown)[] = []
afterEach(async () => void (await Promise.all(stops.splice(0).map((stop) => stop()))))

/** A STUN message with a number in it. */
function stun(number: number): Buffer {
  const message = Buffer.alloc(24, number)
  message.writeUInt16BE(0x0001, 0)
  message.writeUInt16BE(4, 2)
  return message
}

async function udp(onDatagram: (datagram: Buffer, from: AddressInfo) => void = () => {}): Promise<Socket> {
  const socket = createSocket('udp4', (datagram, { address, port, family }) =>
    onDatagram(datagram, { address, port, family }),
  )
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  stops.push(() => socket.close())
  return socket
}

/** Servers that send back what they get. */
const echoes = {
  async udp() {
    const socket = await udp((datagram, { port, address }) => socket.send(datagram, port, address))
    return socket.address().port
  },
  async tcp() {
    const server = createServer((socket) => socket.on('error', () => {}).pipe(socket))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    stops.push(() => server.close())
    return (server.address() as AddressInfo).port
  },
}

function tunnelsWith(options: { always: boolean; localAddress?: string }): TurnTunnels {
  const tunnels = new TurnTunnels({ ...options, clock: systemClock })
  stops.push(() => tunnels.stop())
  return tunnels
}

const turn = (port: number, transport: string, host = '127.0.0.1') => ({
  url: `turn:${host}:${port}?transport=${transport}`,
  ...{ username: 'user', credential: 'password' },
})

describe('TurnTunnels', () => {
  it.each([
    ['udp', '127.0.0.1'],
    ['udp', 'localhost'],
    ['tcp', '127.0.0.1'],
  ] as const)('carry datagrams of each agent port to a server by %s at %s and back', async (by, host) => {
    const given = turn(await echoes[by](), by, host)
    const [reached] = await tunnelsWith({ always: true, localAddress: '127.0.0.1' }).servers([given])
    expect(reached).toMatchObject({ username: 'user', credential: 'password' })
    const [, port] = /^turn:127\.0\.0\.1:(\d+)$/.exec(reached?.url ?? '') ?? []
    for (const agents of [1, 2]) {
      const back = Promise.withResolvers<Buffer>()
      const agent = await udp((datagram) => back.resolve(datagram))
      agent.send(stun(agents), Number(port), '127.0.0.1')
      expect(await back.promise).toEqual(stun(agents))
    }
  })

  it('are so many at once: others take the place of those that nothing goes through', async () => {
    const tunnels = tunnelsWith({ always: true, localAddress: '127.0.0.1' })
    const used = turn(await echoes.tcp(), 'tcp')
    const placeOf = async (server: { url: string; username: string; credential: string }) =>
      (await tunnels.servers([server]))[0]?.url
    const place = await placeOf(used)
    const back = Promise.withResolvers<Buffer>()
    const agent = await udp((datagram) => back.resolve(datagram))
    agent.send(stun(1), Number(place?.split(':')[2]), '127.0.0.1')
    await back.promise
    const named = Array.from({ length: 100 }, (_, i) => turn(1_000 + i, 'udp'))
    for (const server of named) expect(await placeOf(server)).toMatch(/^turn:127/)
    expect(await placeOf(used)).toBe(place)
    // More than there is room for, all at once: each has a place, or is left out.
    const reached = await tunnels.servers(named)
    expect(reached).toHaveLength(31)
  })

  it('are for TCP and TLS alone, or for all servers, and then none is asked for the outer address', async () => {
    const servers = [turn(3478, 'udp'), { url: 'stun:127.0.0.1:3478', username: '', credential: '' }]
    expect(await tunnelsWith({ always: false }).servers(servers)).toEqual(servers)
    const reached = await tunnelsWith({ always: true }).servers(servers)
    expect(reached).toHaveLength(1)
    expect(reached[0]?.url).not.toContain(':3478')
  })

  it('repeat the checks of an agent that may use relays only, and of no other', async () => {
    const check = (number: number) => Buffer.concat([Buffer.from([0x00, 0x16]), stun(number).subarray(2)])
    const got: Buffer[] = []
    const overUdp = await udp((datagram) => got.push(datagram))
    const overTcp = createServer((socket) => socket.on('data', (bytes: Buffer) => got.push(bytes)))
    overTcp.listen(0, '127.0.0.1')
    await once(overTcp, 'listening')
    stops.push(() => overTcp.close())
    const agent = await udp()
    const send = async (always: boolean, server: ReturnType<typeof turn>, number: number) => {
      const [reached] = await tunnelsWith({ always }).servers([server])
      agent.send(check(number), Number(/\d+$/.exec(reached?.url ?? '')?.[0]), '127.0.0.1')
      await expect.poll(() => got).toContainEqual(check(number))
    }
    await send(false, turn((overTcp.address() as AddressInfo).port, 'tcp'), 1)
    await send(true, turn(overUdp.address().port, 'udp'), 2)
    const repeated = Array.from({ length: 1 + maxRepeats }, () => check(2))
    await expect.poll(() => got).toEqual([check(1), ...repeated])
  })

  it('have one tunnel for each server, and lose what comes after they stopped', async () => {
    const got: Buffer[] = []
    const server = await udp((datagram) => got.push(datagram))
    const given = turn(server.address().port, 'udp')
    const tunnels = tunnelsWith({ always: true })
    const [[first], [second]] = [await tunnels.servers([given]), await tunnels.servers([given])]
    expect(second).toEqual(first)
    tunnels.stop()
    tunnels.stop()
    const agent = await udp()
    agent.send(stun(1), Number(/\d+$/.exec(first?.url ?? '')?.[0]), '127.0.0.1')
    agent.send(toStream(stun(2)), server.address().port, '127.0.0.1')
    await expect.poll(() => got).toEqual([stun(2)])
  })
})
