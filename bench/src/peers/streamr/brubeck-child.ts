import { drive } from '../driver.ts'
import { freePort } from '@runnel/transport'
import { installed } from '../installed.ts'
import { numberOfText, textOf, until } from '../system.ts'
import { quietDataChannels } from './quiet-data-channels.ts'

/** What is used of Streamr's packages of Brubeck; they are installed apart, so their types are not there. */
interface Message {
  getParsedContent(): { readonly text: string }
}
interface Node {
  start(): void
  stop(): Promise<unknown>
  subscribe(streamPartId: string): void
  publish(message: Message): void
  addMessageListener(listener: (message: Message) => void): void
  getNeighborsForStreamPart(streamPartId: string): readonly string[]
  on(event: string, listener: () => void): void
}
interface NetworkPackage {
  readonly TEST_CONFIG: object
  createNetworkNode(options: object): Node
}
interface Tracker {
  getConfigRecord(): object
  stop(): Promise<void>
}
interface TrackerPackage {
  startTracker(options: object): Promise<Tracker>
}
interface ProtocolPackage {
  readonly StreamMessage: new (options: object) => Message
  readonly MessageID: new (...parts: readonly unknown[]) => object
  readonly MessageRef: new (timestamp: number, sequenceNumber: number) => object
}
interface UtilsPackage {
  readonly MetricsContext: new () => object
}

const streamId = 'bench'
const streamPartId = `${streamId}#0`
const publisherId = `0x${'1'.repeat(40)}`
/** A signature takes room; the network of Brubeck does not check it, its client does. */
const signature = `0x${'1'.repeat(130)}`

/** A tracker and nodes of `@streamr/network-node`, over WebRTC. */
drive(async ({ nodes: count, directory }, onDelivery) => {
  quietDataChannels(directory)
  const network = await installed<NetworkPackage>(directory, '@streamr/network-node')
  const protocol = await installed<ProtocolPackage>(directory, '@streamr/protocol')
  const { startTracker } = await installed<TrackerPackage>(directory, '@streamr/network-tracker')
  const { MetricsContext } = await installed<UtilsPackage>(directory, '@streamr/utils')
  const listenAt = { hostname: '127.0.0.1', port: await freePort() }
  const tracker = await startTracker({
    listen: listenAt,
    attachHttpEndpoints: false,
    trackerPingInterval: 60_000,
  })
  let [duplicates, made] = [0, 0]
  const start = (): Node => {
    const node = network.createNetworkNode({
      ...network.TEST_CONFIG,
      id: `0x${String(++made).padStart(40, '0')}`,
      trackers: [tracker.getConfigRecord()],
      metricsContext: new MetricsContext(),
    })
    node.on('streamr:node:duplicate-message-received', () => duplicates++)
    node.start()
    node.subscribe(streamPartId)
    return node
  }
  const nodes = Array.from({ length: count }, start)
  const least = Math.min(3, count - 1)
  const isSettled = (node: Node) => node.getNeighborsForStreamPart(streamPartId).length >= least
  await until(() => nodes.every(isSettled), 'the overlay')
  const [publisher, ...subscribers] = nodes
  for (const node of subscribers)
    node.addMessageListener((message) => onDelivery(numberOfText(message.getParsedContent().text)))
  let previous: object | null = null
  return {
    publish(first, many) {
      for (let number = first; number < first + many; number++) {
        const timestamp = Date.now()
        const id = [streamId, 0, timestamp, number, publisherId, 'chain']
        const messageId = new protocol.MessageID(...id)
        const content = { text: textOf(number) }
        publisher?.publish(
          new protocol.StreamMessage({ messageId, prevMsgRef: previous, content, signature }),
        )
        previous = new protocol.MessageRef(timestamp, number)
      }
    },
    duplicates: () => duplicates,
    join: async (onMessage) => {
      const node = start()
      node.addMessageListener(onMessage)
      return () => node.stop()
    },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()))
      await tracker.stop()
    },
  }
})
