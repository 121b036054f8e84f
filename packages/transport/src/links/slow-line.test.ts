import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import type { Connection } from '../ports.ts'
import { TcpProxy } from '../ws/tcp-proxy.testkit.ts'
import { WebSocketTransport } from '../ws/web-socket-transport.ts'
import { createLinks } from './create-links.ts'
import { dialsEverybody, numbered } from './links.testkit.ts'

const packets = 60
const all = Array.from({ length: packets }, (_, index) => index + 1)

const stops: (() => Promise<void>)[] = []
afterEach(async () => void (await Promise.all(stops.splice(0).map((stop) => stop()))))

/** A node that listens, and considers itself unreachable and others reachable, so that it always dials. */
async function createNode(name: string) {
  const limits = { pingIntervalMs: 100, maxPingIntervalMs: 100, maxMissedPongs: 1_000, closeTimeoutMs: 200 }
  const modules = testModules(name, systemClock, limits)
  const { nodeId } = modules.identity
  const websocket = new WebSocketTransport({ role: 'node', listen: { host: '127.0.0.1', port: 0 } }, modules)
  const links = createLinks(
    { self: nodeId, contact: () => dialsEverybody, duplicateLingerMs: 300 },
    { clock: systemClock, transports: [websocket] },
  )
  const inbound: Connection[] = []
  const { onInbound } = websocket
  websocket.onInbound = (connection) => {
    inbound.push(connection)
    onInbound(connection)
  }
  await websocket.start()
  const received: number[] = []
  const opened = new Promise<void>((resolve) => {
    links.events = {
      onOpened: () => resolve(),
      onClosed() {},
      onFailed() {},
      onPacket: (_, _type, body) => void received.push(body.at(-1) ?? 0),
      onDrain() {},
    }
  })
  stops.push(async () => {
    links.stop()
    await websocket.stop()
  })
  return { nodeId, links, websocket, inbound, received, opened }
}

type Node = Awaited<ReturnType<typeof createNode>>

async function slowWay(to: Node, bytesPerMs: number): Promise<TcpProxy> {
  const proxy = await TcpProxy.to(Number(new URL(to.websocket.addresses[0] ?? '').port), bytesPerMs)
  stops.push(() => proxy.stop())
  return proxy
}

const dial = (from: Node, to: Node, { url }: TcpProxy): void =>
  from.links.connect(to.nodeId, { addresses: [{ kind: 'websocket', text: url }], dials: ['websocket'] })

describe('a WebSocket on a slow line', () => {
  it.each([
    ['the one that closes', true],
    ['the other', false],
  ])('is closed for another one when all of a megabyte that %s had sent has arrived', async (_, lowSends) => {
    const nodes = await Promise.all([createNode('slow a'), createNode('slow b')])
    const [low, high] = nodes.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1)) as [Node, Node]
    const [sender, receiver] = lowSends ? [low, high] : [high, low]
    const [slow, late] = [await slowWay(low, 500), await slowWay(high, Infinity)]
    // What the lower id dials is used, once it is open: that waits.
    late.flow({ toServer: false, toClient: false })
    dial(low, high, late)
    dial(high, low, slow)
    await Promise.all([low.opened, high.opened])
    const [spare] = low.inbound
    for (const n of all) {
      expect(sender.links.send(receiver.nodeId, numbered(n, 16))).toBe(true)
      // A frame is what one turn sends.
      await new Promise((resolve) => setImmediate(resolve))
    }
    late.flow({ toServer: true, toClient: true })
    await expect.poll(() => nodes.map(({ links }) => links.counters.duplicates)).toEqual([1, 1])
    await expect.poll(() => spare?.writable).toBe(false)
    expect(receiver.received).toEqual(all)
  })
})
