import { decodePacket, readPackets, seededRandom, type Clock } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import {
  createTransports,
  WebSocketTransport,
  type Connection,
  type Transport,
  type TransportOptions,
} from '@runnel/transport'
import { afterEach, describe, expect, it } from 'vitest'
import { createNetworkNode, type NetworkNodeModules } from './create-network-node.ts'
import {
  crypto,
  everybodyMay,
  identityOf,
  oneTracker,
  partId,
  ScriptedTracker,
  TestPublisher,
} from './network.testkit.ts'
import type { NetworkNode } from './ports.ts'

const clock: Clock = systemClock
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

async function startTracker(): Promise<{ transport: WebSocketTransport; nodeId: NetworkNode['nodeId'] }> {
  const identity = identityOf('tracker')
  const transport = new WebSocketTransport(
    { role: 'tracker', listen: { host: '127.0.0.1', port: 0 } },
    { clock, random: systemRandom, crypto, identity },
  )
  new ScriptedTracker(transport)
  await transport.start()
  stops.push(() => transport.stop())
  return { transport, nodeId: identity.nodeId }
}

async function startNodes(
  count: number,
  transportsOf: (index: number) => TransportOptions,
  wires?: NetworkNodeModules['transports'],
): Promise<NetworkNode[]> {
  const { transport, nodeId } = await startTracker()
  const nodes: NetworkNode[] = []
  for (let i = 0; i < count; i++) {
    const node = createNetworkNode(
      { transports: transportsOf(i) },
      {
        identity: identityOf(`node ${i}`),
        crypto,
        clock,
        random: seededRandom(`node ${i}`),
        publisherPolicy: everybodyMay,
        trackers: oneTracker({ nodeId, url: transport.url }),
        ...(wires === undefined ? {} : { transports: wires }),
      },
    )
    stops.push(() => node.stop())
    await node.start()
    node.join(partId)
    nodes.push(node)
  }
  const neighbours = Math.min(4, count - 1)
  await Promise.all(nodes.map((node) => node.waitForNeighbours(partId, { count: neighbours })))
  return nodes
}

/** Resolves with the messages of every node when each has `count`. */
function collect(nodes: readonly NetworkNode[], count: number): Promise<string[][]> {
  const text = new TextDecoder()
  return Promise.all(
    nodes.map(
      (node) =>
        new Promise<string[]>((resolve) => {
          const texts: string[] = []
          node.on('message', ({ message }) => {
            texts.push(text.decode(message.content))
            if (texts.length === count) resolve(texts)
          })
        }),
    ),
  )
}

const listen = { host: '127.0.0.1', port: 0 }

describe.each([
  { kind: 'websocket', transports: { websocket: { listen }, webrtc: false } },
  { kind: 'tcp', transports: { tcp: { listen }, websocket: { listen }, webrtc: false } },
  { kind: 'webrtc', transports: { webrtc: { bindAddress: '127.0.0.1' } } },
] satisfies { kind: string; transports: TransportOptions }[])('nodes over $kind', ({ kind, transports }) => {
  it('flood to each other', async () => {
    const nodes = await startNodes(6, () => transports)
    const sent = Array.from({ length: 100 }, (_, i) => `message ${i}`)
    const received = collect(nodes, sent.length)
    const publisher = new TestPublisher('publisher', clock)
    for (const content of sent) nodes[0]?.publish(publisher.next(content))
    for (const texts of await received) expect(texts).toEqual(sent)
    for (const node of nodes) {
      const neighbours = node.metrics().streamParts[0]?.neighbours ?? []
      expect(new Set(neighbours.map(({ transport }) => transport))).toEqual(new Set([kind]))
      const paths = new Set(neighbours.map(({ path }) => path?.local))
      expect(paths).toEqual(new Set([kind === 'webrtc' ? 'host' : undefined]))
    }
  })
})

describe('nodes of several kinds in one overlay', () => {
  it('use for each link the cheapest way that both have', async () => {
    const webrtc = { bindAddress: '127.0.0.1' }
    const shapes: Record<string, TransportOptions> = {
      reachable: { websocket: { listen }, webrtc: false },
      hidden: { websocket: {}, webrtc },
      inside: { tcp: { listen }, websocket: {}, webrtc },
    }
    const names = Object.keys(shapes)
    const shapeOf = (index: number) => names[Math.floor(index / 2)] ?? ''
    const nodes = await startNodes(6, (index) => shapes[shapeOf(index)] ?? {})
    const received = collect(nodes, 20)
    const publisher = new TestPublisher('publisher', clock)
    for (let i = 0; i < 20; i++) nodes[0]?.publish(publisher.next(`message ${i}`))
    expect((await received).map((texts) => texts.length)).toEqual(nodes.map(() => 20))
    const shapeOfId = new Map(nodes.map(({ nodeId }, index) => [nodeId, shapeOf(index)]))
    const seen = new Map<string, string>()
    for (const node of nodes)
      for (const { nodeId, transport } of node.metrics().streamParts[0]?.neighbours ?? [])
        seen.set([shapeOfId.get(node.nodeId), shapeOfId.get(nodeId)].toSorted().join(' – '), transport)
    expect(Object.fromEntries(seen)).toEqual({
      'hidden – hidden': 'webrtc',
      'hidden – inside': 'webrtc',
      'hidden – reachable': 'websocket',
      'inside – inside': 'tcp',
      'inside – reachable': 'websocket',
      'reachable – reachable': 'websocket',
    })
  })
})

describe('nodes that dial each other over webrtc', () => {
  /** Has the test hear of connections that were dialled, before the node does. */
  function watched(transport: Transport, onDialled: (connection: Connection) => void): Transport {
    const dial = transport.dial.bind(transport)
    transport.dial = (request) =>
      dial({
        ...request,
        onOpen(connection) {
          onDialled(connection)
          request.onOpen(connection)
        },
      })
    return transport
  }

  it('attach behind their proof where they dial, and the peer hears it once', async () => {
    const said: unknown[] = []
    const onDialled = ({ peerRole, saidFirst }: Connection) => {
      if (peerRole === 'tracker') return
      const [packet] = readPackets(saidFirst ?? new Uint8Array(0))
      said.push(packet && decodePacket(packet.type, packet.body))
    }
    const nodes = await startNodes(
      2,
      () => ({}),
      (modules) =>
        createTransports({ webrtc: { bindAddress: '127.0.0.1' } }, modules).map((transport) =>
          watched(transport, onDialled),
        ),
    )
    // One dials.
    expect(said).toEqual([expect.objectContaining({ type: 'attach', streamPartId: partId, heads: [] })])
    for (const node of nodes) expect(node.metrics().counters['attach.repeated']).toBe(0)
    const received = collect(nodes, 2)
    nodes.forEach((node, index) =>
      node.publish(new TestPublisher(`publisher ${index}`, clock).next(`of ${index}`)),
    )
    for (const texts of await received) expect(texts.toSorted()).toEqual(['of 0', 'of 1'])
  })
})
