import { seededRandom, type Clock } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { type TransportOptions, WebSocketTransport } from '@runnel/transport'
import { afterEach, describe, expect, it } from 'vitest'
import { createNetworkNode } from './create-network-node.ts'
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

async function startNodes(count: number, transports: TransportOptions): Promise<NetworkNode[]> {
  const { transport, nodeId } = await startTracker()
  const nodes: NetworkNode[] = []
  for (let i = 0; i < count; i++) {
    const node = createNetworkNode(
      { transports },
      {
        identity: identityOf(`node ${i}`),
        crypto,
        clock,
        random: seededRandom(`node ${i}`),
        publisherPolicy: everybodyMay,
        trackers: oneTracker({ nodeId, url: transport.url }),
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

describe.each([
  { kind: 'websocket', transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } },
  { kind: 'webrtc', transports: { webrtc: { bindAddress: '127.0.0.1' } } },
] satisfies { kind: string; transports: TransportOptions }[])('nodes over $kind', ({ kind, transports }) => {
  it('flood to each other', async () => {
    const nodes = await startNodes(6, transports)
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
