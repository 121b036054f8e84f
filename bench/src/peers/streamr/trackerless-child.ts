import { randomBytes } from 'node:crypto'
import { drive } from '../driver.ts'
import { freePort } from '@runnel/transport'
import { installed } from '../installed.ts'
import { contentOf, numberOf, until } from '../system.ts'
import { quietDataChannels } from './quiet-data-channels.ts'

/** What is used of Streamr's package of today; it is installed apart, so its types are not there. */
interface Message {
  readonly body: { readonly contentMessage: { readonly content: Uint8Array } }
}
interface Node {
  start(): Promise<void>
  stop(): Promise<void>
  join(streamPartId: string): Promise<void>
  broadcast(message: object): Promise<void>
  addMessageListener(listener: (message: Message) => void): void
  getNeighbors(streamPartId: string): readonly string[]
}
interface NetworkPackage {
  createNetworkNode(options: object): Node
}

const streamId = 'bench'
const streamPartId = `${streamId}#0`
const publisherId = randomBytes(20)
const nodeJs = 0
/** A signature takes room; the network does not check it, the client above does. */
const signature = randomBytes(65)
const binary = 1

/** Nodes of `@streamr/trackerless-network`. Over WebRTC the first one has a WebSocket server, as the entry of the others. */
drive(async ({ nodes: count, directory, variant }, onDelivery) => {
  quietDataChannels(directory)
  const { createNetworkNode } = await installed<NetworkPackage>(directory, '@streamr/trackerless-network')
  const entryPoint = {
    nodeId: randomBytes(20),
    type: nodeJs,
    region: 0,
    websocket: { host: '127.0.0.1', port: await freePort(), tls: false },
  }
  const start = async (isEntry: boolean): Promise<Node> => {
    const port = isEntry ? entryPoint.websocket.port : await freePort()
    const own = isEntry ? { peerDescriptor: entryPoint } : {}
    const listens = isEntry || variant['transport'] === 'websocket'
    const range = { websocketPortRange: { min: port, max: port }, websocketHost: '127.0.0.1' }
    const node = createNetworkNode({
      layer0: {
        // Otherwise it asks content delivery networks where it is.
        region: 0,
        ...{ entryPoints: [entryPoint], ...own, ...(listens ? range : {}) },
        ...{ websocketServerEnableTls: false, webrtcAllowPrivateAddresses: true, iceServers: [] },
        allowIncomingPrivateConnections: true,
      },
      networkNode: {},
    })
    await node.start()
    return node
  }
  const nodes: Node[] = []
  for (let i = 0; i < count; i++) nodes.push(await start(i === 0))
  await Promise.all(nodes.map((node) => node.join(streamPartId)))
  const least = Math.min(3, count - 1)
  await until(
    () => nodes.every((node) => node.getNeighbors(streamPartId).length >= least),
    'the overlay',
    60_000,
  )
  const [publisher, ...subscribers] = nodes
  for (const node of subscribers)
    node.addMessageListener(({ body }) => onDelivery(numberOf(body.contentMessage.content)))
  let failure: Error | undefined
  let previousMessageRef: { timestamp: number; sequenceNumber: number } | undefined
  const messageOf = (sequenceNumber: number) => {
    const ref = { timestamp: Date.now(), sequenceNumber }
    const messageId = { ...ref, streamId, streamPartition: 0, publisherId, messageChainId: 'chain' }
    const contentMessage = { content: contentOf(sequenceNumber), contentType: binary, encryptionType: 0 }
    const body = { oneofKind: 'contentMessage', contentMessage }
    const message = { messageId, previousMessageRef, signature, signatureType: 1, body }
    previousMessageRef = ref
    return message
  }
  return {
    publish(first, many) {
      if (failure !== undefined) throw failure
      for (let number = first; number < first + many; number++)
        publisher?.broadcast(messageOf(number)).catch((error: unknown) => {
          failure ??= error instanceof Error ? error : new Error(String(error))
        })
    },
    async join(onMessage) {
      const node = await start(false)
      node.addMessageListener(onMessage)
      await node.join(streamPartId)
      return () => node.stop()
    },
    stop: () => Promise.all(nodes.map((node) => node.stop())),
  }
})
