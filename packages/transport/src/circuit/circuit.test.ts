import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { circuitUrl, encodePacket, type NodeId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { testModules } from '../conformance/modules.testkit.ts'
import { Recorder } from '../conformance/recorder.testkit.ts'
import { failureCode, type DialResult } from '../conformance/transport-pair.testkit.ts'
import type { Channel } from '../connection/channel.ts'
import { connectionLimits } from '../connection/limits.ts'
import type { Connection } from '../ports.ts'
import { WebSocketTransport } from '../ws/web-socket-transport.ts'
import { WsChannel } from '../ws/ws-channel.ts'
import { CircuitListener } from './circuit-listener.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).reverse()) await stop()
})

const idOf = (name: string): NodeId => testModules(name, systemClock).identity.nodeId
const limits = connectionLimits({})

/** Somebody at the end of circuits, and the carrier's way there. */
async function startEnd() {
  const end = new CircuitListener({ role: 'tracker' }, testModules('end', systemClock))
  toStop.push(() => end.stop())
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  toStop.push(() => new Promise((resolve) => server.close(resolve)))
  const sockets: WebSocket[] = []
  server.on('connection', (socket) => {
    sockets.push(socket)
    end.accept(new WsChannel(socket, limits))
  })
  await once(server, 'listening')
  const open = async (): Promise<Channel> => {
    const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
    // What the end says at once waits until the carrier listens.
    socket.once('open', () => socket.pause())
    await once(socket, 'open')
    setImmediate(() => socket.resume())
    return new WsChannel(socket, limits)
  }
  return { end, open, sockets }
}

/** Who carries circuits, and a node's URL of one to the end. */
async function startCarrier(open: () => Promise<Channel>, maxQueuedBytes = 1_000_000) {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  toStop.push(() => new Promise((resolve) => http.close(resolve)))
  const carrier = new WebSocketTransport(
    { role: 'tracker', listen: { server: http, circuits: { open, maxQueuedBytes } } },
    testModules('carrier', systemClock),
  )
  await carrier.start()
  toStop.push(() => carrier.stop())
  const trackerUrl = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`
  return { carrier, trackerUrl, url: circuitUrl(trackerUrl, [idOf('end')]) ?? '' }
}

async function dial(url: string): Promise<DialResult> {
  const node = new WebSocketTransport({ role: 'node' }, testModules('node', systemClock))
  await node.start()
  toStop.push(() => node.stop())
  return new Promise((resolve) => node.dial({ peerId: idOf('end'), url, onOpen: resolve, onFail: resolve }))
}

describe('a circuit', () => {
  it('is a link like any other between its ends, which prove themselves to each other', async () => {
    const { end, open } = await startEnd()
    const inbound = new Promise<Connection>((resolve) => (end.onInbound = resolve))
    const { url, carrier } = await startCarrier(open)
    const outward = (await dial(url)) as Connection
    const inward = await inbound
    expect([outward.peerId, outward.peerRole, inward.peerId]).toEqual([idOf('end'), 'tracker', idOf('node')])
    const [atNode, atEnd] = [new Recorder(outward), new Recorder(inward)]
    outward.send(encodePacket({ type: 'clockAsk', token: 1 }))
    inward.send(encodePacket({ type: 'trackerError', code: 'CODE', message: 'text' }))
    await atEnd.count(1)
    await atNode.count(1)
    await carrier.stop()
    await Promise.all([atNode.closed, atEnd.closed])
    expect(end.size).toBe(0)
  })

  it('ends when who carries it changes a frame', async () => {
    const { end, open } = await startEnd()
    const inbound = new Promise<Connection>((resolve) => (end.onInbound = resolve))
    let changes = false
    const { url } = await startCarrier(async () => {
      const channel = await open()
      const send = channel.send.bind(channel)
      channel.send = (frame) => {
        const changed = frame.slice()
        if (changes) changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
        send(changed)
      }
      return channel
    })
    const outward = (await dial(url)) as Connection
    const atEnd = new Recorder(await inbound)
    changes = true
    outward.send(encodePacket({ type: 'trackerError', code: 'CODE', message: 'text' }))
    expect(await atEnd.closed).toMatchObject({ code: 'NOT_AUTHENTIC' })
  })

  it('fails where there is no way on', async () => {
    const { url, trackerUrl } = await startCarrier(() => Promise.reject(new Error('nobody is there')))
    for (const target of [url, `${trackerUrl}/circuit/nobody`])
      expect(failureCode(await dial(target))).toBe('DIAL_FAILED')
  })

  it('ends when one side does not read, before much waits for it', async () => {
    const { end, open, sockets } = await startEnd()
    const inbound = new Promise<Connection>((resolve) => (end.onInbound = resolve))
    const { url } = await startCarrier(open, 100_000)
    const outward = (await dial(url)) as Connection
    await inbound
    sockets[0]?.pause()
    const closed = new Recorder(outward).closed
    const text = 'x'.repeat(400)
    const fill = (): void => {
      for (let i = 0; i < 1_000; i++)
        outward.send(encodePacket({ type: 'trackerError', code: 'CODE', message: text }))
      if (outward.queuedBytes < 10_000_000) filling = setImmediate(fill)
    }
    let filling = setImmediate(fill)
    expect(await closed).toMatchObject({ code: 'CONNECTION_LOST' })
    clearImmediate(filling)
    sockets[0]?.terminate()
  })
})
