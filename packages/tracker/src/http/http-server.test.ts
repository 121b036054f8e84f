import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { listen } from '@runnel/transport'
import { closeServer, createHttpServer } from './http-server.ts'

const ends: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function setUp(maxSockets: number) {
  let cut = 0
  const server = createHttpServer({ maxSockets, onCut: () => cut++ }, (_request, response) =>
    response.end('here'),
  )
  await listen(server, '127.0.0.1', 0)
  ends.push(() => closeServer(server))
  const { port } = server.address() as AddressInfo
  /** A socket on which nothing is said, from an address of the loopback network. */
  const open = async (localAddress: string): Promise<Socket> => {
    const isThere = once(server, 'connection')
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    socket.on('error', () => {})
    ends.push(() => void socket.destroy())
    await Promise.all([once(socket, 'connect'), isThere])
    return socket
  }
  return { open, cuts: () => cut }
}

describe('the sockets of a tracker', () => {
  it('are shared out by networks: the newest of the heaviest is cut off', async () => {
    const { open, cuts } = await setUp(6)
    const held: Socket[] = []
    for (let n = 1; n <= 6; n++) held.push(await open(`127.0.9.${n}`))
    const isCut = once(held[5] as Socket, 'close')
    const honest = await open('127.0.7.1')
    await isCut
    honest.write('GET / HTTP/1.1\r\nHost: tracker\r\n\r\n')
    const [answer] = (await once(honest, 'data')) as [Buffer]
    expect(answer.toString()).toContain('200 OK')
    const late = await open('127.0.9.7')
    await once(late, 'close')
    expect(cuts()).toBe(2)
    expect(held.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false, false, true])
  })

  it('are cut off when they do not finish TLS', async () => {
    // Nobody gets as far as the certificate.
    const tls = { cert: '', key: '' }
    const server = createHttpServer({ maxSockets: 6, tls, headersTimeoutMs: 80 }, () => {})
    await listen(server, '127.0.0.1', 0)
    ends.push(() => closeServer(server))
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {}).resume()
    ends.push(() => void socket.destroy())
    await once(socket, 'close')
  })
})
