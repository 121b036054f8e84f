import { drive } from '../driver.ts'
import { installed } from '../installed.ts'
import { contentOf, numberOf, until } from '../system.ts'

/** What is used of js-libp2p; it is installed apart, so its types are not there. */
interface Pubsub extends EventTarget {
  subscribe(topic: string): void
  publish(topic: string, content: Uint8Array): Promise<unknown>
  getMeshPeers(topic: string): readonly string[]
  readonly score: { duplicateMessage(...args: unknown[]): void }
}
interface Libp2p {
  readonly services: { readonly pubsub: Pubsub }
  getMultiaddrs(): readonly unknown[]
  dial(addresses: readonly unknown[]): Promise<unknown>
  stop(): Promise<void>
}
type Factory = (options?: object) => unknown

const topic = 'bench'
/** gossipsub's own parameters for a mesh of four, in the proportions of its defaults for six. */
const four = { D: 4, Dlo: 3, Dhi: 8, Dscore: 3, Dout: 1, floodPublish: false }

/** Every node has a connection to every other, and picks its mesh among them. */
drive(async ({ nodes: count, directory, variant }, onDelivery) => {
  const load = <T>(name: string) => installed<T>(directory, name)
  const { createLibp2p } = await load<{ createLibp2p(options: object): Promise<Libp2p> }>('libp2p')
  const { tcp } = await load<{ tcp: Factory }>('@libp2p/tcp')
  const { noise } = await load<{ noise: Factory }>('@chainsafe/libp2p-noise')
  const { yamux } = await load<{ yamux: Factory }>('@chainsafe/libp2p-yamux')
  const { identify } = await load<{ identify: Factory }>('@libp2p/identify')
  const { gossipsub } = await load<{ gossipsub: Factory }>('@libp2p/gossipsub')
  let duplicates = 0
  const start = async (others: readonly Libp2p[]): Promise<Libp2p> => {
    const pubsub = gossipsub({
      globalSignaturePolicy: variant['signed'] ? 'StrictSign' : 'StrictNoSign',
      // All nodes have one address, which more than ten may not have by default.
      scoreParams: { IPColocationFactorWeight: 0 },
      ...(variant['degree'] === 4 ? four : {}),
    })
    const node = await createLibp2p({
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      connectionGater: { denyDialMultiaddr: () => false },
      connectionManager: { inboundConnectionThreshold: 1000 },
      services: { identify: identify(), pubsub },
    })
    const { score } = node.services.pubsub
    const report = score.duplicateMessage.bind(score)
    score.duplicateMessage = (...args) => {
      duplicates++
      report(...args)
    }
    node.services.pubsub.subscribe(topic)
    for (const other of others) await node.dial(other.getMultiaddrs())
    return node
  }
  const listen = (node: Libp2p, onMessage: (number: number) => void) =>
    node.services.pubsub.addEventListener('message', (event) =>
      onMessage(numberOf((event as CustomEvent<{ data: Uint8Array }>).detail.data)),
    )
  const nodes: Libp2p[] = []
  for (let i = 0; i < count; i++) nodes.push(await start(nodes))
  const least = Math.min(variant['degree'] === 4 ? 3 : 4, count - 1)
  await until(
    () => nodes.every(({ services }) => services.pubsub.getMeshPeers(topic).length >= least),
    'the mesh',
  )
  const [publisher, ...subscribers] = nodes
  if (publisher === undefined) throw new Error('no node')
  subscribers.forEach((node) => listen(node, onDelivery))
  return {
    async publish(first, many) {
      const numbers = Array.from({ length: many }, (_, i) => first + i)
      await Promise.all(numbers.map((number) => publisher.services.pubsub.publish(topic, contentOf(number))))
    },
    duplicates: () => duplicates,
    async join(onMessage) {
      const node = await start([])
      listen(node, onMessage)
      await Promise.all(nodes.map((other) => node.dial(other.getMultiaddrs())))
      return () => node.stop()
    },
    stop: () => Promise.all(nodes.map((node) => node.stop())),
  }
})
