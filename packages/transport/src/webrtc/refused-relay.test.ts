import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import { dial, failureCode } from '../conformance/transport-pair.testkit.ts'
import { SignallingNetwork } from './signalling.testkit.ts'

const stops: (() => unknown)[] = []
afterEach(async () => void (await Promise.all(stops.splice(0).map((stop) => stop()))))

/** An Allocate error response (RFC 8489, section 14.8; RFC 8656, section 7.2): 437, as for a port whose last allocation is still there. */
function mismatch(request: Buffer): Buffer {
  const answer = Buffer.alloc(28)
  answer.writeUInt16BE(0x0113, 0)
  answer.writeUInt16BE(8, 2)
  request.copy(answer, 4, 4, 20)
  answer.set([0, 9, 0, 4, 0, 0, 4, 37], 20)
  return answer
}

async function serverWithoutRelays(): Promise<string> {
  const socket = createSocket('udp4', (request, { port, address }) =>
    socket.send(mismatch(request), port, address),
  )
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  stops.push(() => socket.close())
  return `turn:user:password@127.0.0.1:${socket.address().port}`
}

it('fails, and is tried again, as soon as no server gives a relay where nothing else may be used', async () => {
  const url = await serverWithoutRelays()
  const network = new SignallingNetwork()
  const a = await network.transport('a', { iceServers: [url], iceTransportPolicy: 'relay' })
  const b = await network.transport('b')
  stops.push(
    () => a.transport.stop(),
    () => b.transport.stop(),
  )
  expect(failureCode(await dial(a, { peerId: b.nodeId }))).toBe('DIAL_FAILED')
  expect(a.transport.counters).toMatchObject({ dials: 1, retries: 3, failed: 1 })
  expect(b.transport.counters.opened).toBe(0)
})
