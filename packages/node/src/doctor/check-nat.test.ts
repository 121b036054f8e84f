import { createSocket, type Socket } from 'node:dgram'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { afterEach, describe, expect, it } from 'vitest'
import { checkNat } from './check-nat.ts'
import { iceServersOf, stunAddressesOf } from './tracker-ice-servers.ts'

const cookie = Buffer.from('2112a442', 'hex')
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close()
})

/** A STUN server that says it sees whoever asks at `mapped`, or as it does; `other` is named as its other address. */
async function stunServer(mapped?: string, other?: { readonly port: number }) {
  const socket = createSocket('udp4')
  sockets.push(socket)
  socket.on('message', (request, from) => {
    const [host = '', port = ''] = (mapped ?? `${from.address}:${from.port}`).split(':')
    // Asked to answer from another port: it has none.
    if (request.length > 20) return
    const xored = attribute(
      0x0020,
      Number(port) ^ 0x2112,
      host.split('.').map((part, i) => Number(part) ^ (cookie[i] ?? 0)),
    )
    const others = other ? attribute(0x802c, other.port, [127, 0, 0, 1]) : Buffer.alloc(0)
    const content = Buffer.concat([xored, others])
    const head = Buffer.from([1, 1, 0, content.length])
    socket.send(Buffer.concat([head, cookie, request.subarray(8, 20), content]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { hostname: '127.0.0.1', port: socket.address().port }
}

function attribute(type: number, port: number, address: readonly number[]): Buffer {
  const bytes = Buffer.from([0, 0, 0, 8, 0, 1, 0, 0, ...address])
  bytes.writeUInt16BE(type, 0)
  bytes.writeUInt16BE(port, 6)
  return bytes
}

describe('what is between this machine and STUN servers', () => {
  it('is nothing where they see an address of this machine', async () => {
    expect(await checkNat([await stunServer()])).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('at its own address, 127.0.0.1:'),
    })
  })

  it('is a NAT that direct links get through, where all see the same', async () => {
    const servers = [await stunServer('192.0.2.7:4000'), await stunServer('192.0.2.7:4000')]
    expect(await checkNat(servers)).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('endpoint-independent mapping, 192.0.2.7:4000'),
    })
  })

  it('is a symmetric NAT where two see different ports', async () => {
    const servers = [await stunServer('192.0.2.7:4000'), await stunServer('192.0.2.7:4001')]
    expect(await checkNat(servers)).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('symmetric NAT: 192.0.2.7:4000 and 192.0.2.7:4001'),
      remedy: expect.stringContaining('TURN'),
    })
  })

  it('is asked from the other address of one server, where there is one', async () => {
    const other = await stunServer('192.0.2.7:5000')
    expect(await checkNat([await stunServer('192.0.2.7:4000', other)])).toMatchObject({ state: 'warning' })
    const same = await stunServer('192.0.2.7:4000')
    expect(await checkNat([await stunServer('192.0.2.7:4000', same)])).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('admits only addresses that it has sent to'),
    })
  })

  it('cannot be told by one server with one address', async () => {
    expect(await checkNat([await stunServer('192.0.2.7:4000')])).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('a second STUN server'),
    })
  })

  it.each([0, 9])(
    'cannot be told by a server whose other address, at port %d, does not answer',
    async (port) => {
      const server = await stunServer('192.0.2.7:4000', { port })
      expect(await checkNat([server, server])).toMatchObject({
        state: 'ok',
        message: expect.stringContaining('a second STUN server'),
      })
    },
  )

  it('is a firewall where none answers, and unknown where there is none', async () => {
    const silent = createSocket('udp4')
    sockets.push(silent)
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve))
    expect(await checkNat([{ hostname: '127.0.0.1', port: silent.address().port }])).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('UDP is blocked'),
      remedy: expect.stringContaining('circuits.carry'),
    })
    expect(await checkNat([])).toMatchObject({ state: 'warning' })
    expect(await checkNat([{ hostname: 'stun.invalid', port: 3478 }])).toMatchObject({
      state: 'warning',
      message: 'no IPv4 address is known of stun.invalid',
    })
  })
})

it('a tracker is asked which servers it names', async () => {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const servers = ['stun:192.0.2.1:3478', 'turns:u:p@192.0.2.1:443', 'wss://carrier.example']
  const tracker = createTracker(
    { listen: { port: 0 }, ice: { servers } },
    { identity, crypto, clock: systemClock, random: systemRandom },
  )
  await tracker.start()
  const named = await iceServersOf({ nodeId: identity.nodeId, url: tracker.url })
  await tracker.stop()
  expect(named.map(({ url }) => url)).toEqual(servers)
  expect(stunAddressesOf(named)).toEqual([{ hostname: '192.0.2.1', port: 3478 }])
})
