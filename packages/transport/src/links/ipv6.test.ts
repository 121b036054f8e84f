import type { Signal } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { openLink } from '../conformance/transport-pair.testkit.ts'
import { startCarrier, startWaiting } from '../circuit/node-circuits.testkit.ts'
import { TcpTransport } from '../tcp/tcp-transport.ts'
import type { Transport } from '../ports.ts'
import { createPeerConnection } from '../webrtc/node-peer-connection.ts'
import { WebRtcTransport } from '../webrtc/web-rtc-transport.ts'
import { WebSocketTransport } from '../ws/web-socket-transport.ts'

const toStop: { stop(): Promise<unknown> }[] = []
afterEach(async () => void (await Promise.all(toStop.splice(0).map((one) => one.stop()))))

async function started<One extends Transport>(transport: One): Promise<One> {
  await transport.start()
  toStop.push(transport)
  return transport
}

const [ofA, ofB] = [testModules('a', systemClock), testModules('b', systemClock)]

/** Over these, a dials b; gives the address that each end sees. */
async function linked(a: Transport, b: Transport) {
  const [url] = b.addresses
  const pair = {
    a: { nodeId: ofA.identity.nodeId, transport: a },
    b: { nodeId: ofB.identity.nodeId, transport: b, ...(url ? { url } : {}) },
    nobody: { peerId: ofA.identity.nodeId },
    nowMs: () => systemClock.monotonicMs(),
    settle: <T>(promise: Promise<T>) => promise,
    stop: () => Promise.resolve(),
  }
  const ends = await openLink(pair)
  return { url, addresses: ends.map(({ connection }) => connection.remoteAddress) }
}

describe('links over IPv6', () => {
  const listen = { host: '::1', port: 0 }

  it('by WebSocket, with brackets in the URL', async () => {
    const a = await started(new WebSocketTransport({ role: 'node' }, ofA))
    const b = await started(new WebSocketTransport({ role: 'node', listen }, ofB))
    const { url, addresses } = await linked(a, b)
    expect(url).toMatch(/^ws:\/\/\[::1\]:\d+$/)
    expect(addresses).toEqual(['::1', '::1'])
  })

  it('by TCP', async () => {
    const a = await started(new TcpTransport({ role: 'node' }, ofA))
    const b = await started(new TcpTransport({ role: 'node', listen }, ofB))
    expect((await linked(a, b)).url).toMatch(/^tcp:\/\/\[::1\]:\d+$/)
  })

  it('by WebRTC', async () => {
    const transports: WebRtcTransport[] = []
    const make = (own: typeof ofA, other: number) => {
      const send = (signal: Signal): boolean => {
        setImmediate(() => transports[other]?.handleSignal({ ...signal, peerId: own.identity.nodeId }))
        return true
      }
      return new WebRtcTransport(
        { bindAddress: '::1' },
        { ...own, signalling: { send }, createPeerConnection },
      )
    }
    transports.push(await started(make(ofA, 1)), await started(make(ofB, 0)))
    const [a, b] = transports
    if (!a || !b) throw new Error('two transports')
    expect((await linked(a, b)).addresses).toEqual(['::1', '::1'])
  })

  it('over a carrier', async () => {
    const carrier = await startCarrier('carrier', {}, 0, '::1')
    toStop.push(carrier)
    const a = await startWaiting('a', [carrier.url])
    const b = await startWaiting('b', [carrier.url])
    toStop.push(a, b)
    const { url } = await linked(a.transport('circuit'), b.transport('circuit'))
    expect(url).toMatch(/^ws:\/\/\[::1\]:\d+$/)
  })
})
