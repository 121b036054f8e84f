import { createNetworkNode } from '@runnel/network'
import { createIdentity, loadCrypto, parsePrivateKey, type NodeId, type StreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { bareDataChannel, type BareEnd, type BareSignal } from '../bare/bare-data-channel.ts'
import { packed, type BareLink } from '../bare/bare-link.ts'
import { dialBareWebSocket } from '../bare/bare-websocket.ts'
import { cpuUs } from '../statistics.ts'
import { actingFor, newIdentity } from '../swarm.ts'

/** Orders for the relay under test. It runs in a process of its own, so that its CPU time is measured alone. */
export type RelayOrder =
  | {
      readonly do: 'bare'
      readonly transport: 'webrtc' | 'websocket'
      readonly pack: boolean
      readonly url: string
    }
  | { readonly do: 'signal'; readonly link: 'in' | 'out'; readonly signal: BareSignal }
  | {
      readonly do: 'node'
      readonly transport: 'webrtc' | 'websocket'
      readonly verify: boolean
      /** Whether it acts for a user. */
      readonly delegated: boolean
      readonly privateKey: string
      readonly tracker: { readonly nodeId: NodeId; readonly url: string }
      readonly streamPartId: StreamPartId
    }
  | { readonly do: 'cpu' }

export type RelayAnswer =
  | { readonly is: 'ready' }
  | { readonly is: 'signal'; readonly link: 'in' | 'out'; readonly signal: BareSignal }
  | { readonly is: 'cpu'; readonly us: number }

const answer = (message: RelayAnswer) => process.send?.(message)
const ends: Partial<Record<'in' | 'out', BareEnd>> = {}

async function bare(order: Extract<RelayOrder, { do: 'bare' }>): Promise<void> {
  const open = (link: 'in' | 'out'): Promise<BareLink> => {
    if (order.transport === 'websocket') return dialBareWebSocket(`${order.url}/${link}`)
    const end = bareDataChannel('offer', (signal) => answer({ is: 'signal', link, signal }))
    ends[link] = end
    return end.open
  }
  const links = await Promise.all([open('in'), open('out')])
  const [input, output] = order.pack ? [packed(links[0]), packed(links[1])] : links
  input.onMessage = (message) => output.send(message)
}

async function node(order: Extract<RelayOrder, { do: 'node' }>): Promise<void> {
  const crypto = await loadCrypto()
  const identity = createIdentity(parsePrivateKey(order.privateKey), crypto)
  const relay = createNetworkNode(
    {
      transports: {
        websocket: order.transport === 'websocket' ? { listen: { host: '127.0.0.1', port: 0 } } : {},
        webrtc: order.transport === 'webrtc' ? {} : false,
      },
    },
    {
      identity,
      ...(order.delegated ? { acting: actingFor(newIdentity(crypto), identity.nodeId, crypto) } : {}),
      crypto,
      clock: systemClock,
      random: systemRandom,
      publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
      trackers: { trackersFor: () => [order.tracker], onChange: () => () => {} },
      ...(order.verify ? {} : { verify: () => true }),
    },
  )
  await relay.start()
  relay.join(order.streamPartId)
  await relay.waitForNeighbours(order.streamPartId, { count: 2 })
}

process.on('message', (order: RelayOrder) => {
  if (order.do === 'signal') return ends[order.link]?.receive(order.signal)
  if (order.do === 'cpu') return answer({ is: 'cpu', us: cpuUs() })
  const done = order.do === 'bare' ? bare(order) : node(order)
  done.then(
    () => answer({ is: 'ready' }),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
