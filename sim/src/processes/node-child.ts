import { createNetworkNode, type NetworkNode } from '@runnel/network'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTransports, type Transport } from '@runnel/transport'
import { gapCounts, type GapCounts } from '../measures/gap-measures.ts'
import { Subscriber } from '../measures/subscriber.ts'
import { ChainPublisher } from '../world/chain-publisher.ts'
import { LossyTransport } from './lossy-transport.ts'

/** What a node's process is told. */
export type NodeOrder =
  | StartOrder
  | { readonly do: 'publish'; readonly messages: number; readonly intervalMs: number }
  | { readonly do: 'report'; readonly chains: readonly ChainEnd[]; readonly limitMs: number }

export interface StartOrder {
  readonly do: 'start'
  readonly tracker: { readonly nodeId: NodeId; readonly url: string }
  readonly streamPartId: StreamPartId
  /** Whether it listens for WebSockets; it has WebRTC in either case. */
  readonly listens: boolean
  readonly lossRate: number
  readonly lossSeed: string
}

/** A chain, and how many messages it has. */
export interface ChainEnd {
  readonly publisherId: NodeId
  readonly count: number
}

/** What a node's process tells. */
export type NodeAnswer =
  { readonly is: 'ready'; readonly publisherId: NodeId } | { readonly is: 'published' } | NodeReport

export interface NodeReport {
  readonly is: 'report'
  readonly delivered: number
  readonly outOfOrder: number
  readonly duplicates: number
  readonly missing: readonly { readonly publisherId: NodeId; readonly numbers: readonly number[] }[]
  readonly gaps: GapCounts
  /** Links in use, by what they are. */
  readonly transports: readonly string[]
}

const crypto = await loadCrypto()
const clock = systemClock
const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
const local = '127.0.0.1'

const answer = (message: NodeAnswer): void => void process.send?.(message)

class NodeProcess {
  readonly #node: NetworkNode
  readonly #streamPartId: StreamPartId
  readonly #subscriber: Subscriber
  readonly #publisher: ChainPublisher
  #onDelivered = (): void => {}

  constructor(order: StartOrder) {
    const { streamPartId, tracker } = order
    this.#streamPartId = streamPartId
    this.#node = createNetworkNode(
      {},
      {
        identity,
        crypto,
        clock,
        random: systemRandom,
        publisherPolicy: { check: () => 'allowed', resolve: () => Promise.resolve() },
        trackers: { trackersFor: () => [tracker], onChange: () => () => {} },
        transports: (modules) => lossyTransports(order, modules),
        // A fault ends the run.
        onError: (error) => {
          throw error
        },
      },
    )
    this.#subscriber = new Subscriber(
      { streamPartId },
      { node: this.#node, nowMs: () => clock.monotonicMs(), onDelivered: () => this.#onDelivered() },
    )
    this.#publisher = new ChainPublisher({ streamPartId }, { clock, crypto, identity })
  }

  async start(): Promise<void> {
    await this.#node.start()
    this.#node.join(this.#streamPartId)
    await this.#node.waitForNeighbours(this.#streamPartId)
    answer({ is: 'ready', publisherId: this.#publisher.publisherId })
  }

  publish(messages: number, intervalMs: number): void {
    if (this.#publisher.count >= messages) return
    this.#node.publish(this.#publisher.next())
    answer({ is: 'published' })
    clock.schedule(intervalMs, () => this.publish(messages, intervalMs))
  }

  /** Answers when it has everything, or when the time is over. */
  report(chains: readonly ChainEnd[], limitMs: number): void {
    const others = chains.filter(({ publisherId }) => publisherId !== identity.nodeId)
    let done = false
    const finish = (): void => {
      if (done) return
      done = true
      cancelLimit()
      answer(this.#reportOf(others))
    }
    const cancelLimit = clock.schedule(limitMs, finish)
    this.#onDelivered = () => {
      if (others.every((chain) => this.#has(chain))) finish()
    }
    this.#onDelivered()
  }

  #has({ publisherId, count }: ChainEnd): boolean {
    return this.#subscriber.ledger(publisherId).delivered === count
  }

  #reportOf(chains: readonly ChainEnd[]): NodeReport {
    const ledgers = chains.map((chain) => ({ ...chain, ledger: this.#subscriber.ledger(chain.publisherId) }))
    const sum = (of: (ledger: (typeof ledgers)[number]['ledger']) => number): number =>
      ledgers.reduce((total, { ledger }) => total + of(ledger), 0)
    const neighbours = this.#node.metrics().streamParts[0]?.neighbours ?? []
    return {
      is: 'report',
      delivered: sum((ledger) => ledger.delivered),
      outOfOrder: sum((ledger) => ledger.outOfOrder),
      duplicates: sum((ledger) => ledger.duplicates),
      missing: ledgers
        .map(({ publisherId, count, ledger }) => ({ publisherId, numbers: ledger.missing(count) }))
        .filter(({ numbers }) => numbers.length > 0),
      gaps: gapCounts([this.#node]),
      transports: neighbours.map(({ transport }) => transport),
    }
  }
}

/** What production has, losing packets. */
function lossyTransports(
  { listens, lossRate, lossSeed }: StartOrder,
  modules: Parameters<typeof createTransports>[1],
): readonly Transport[] {
  const websocket = listens ? { listen: { host: local, port: 0 } } : {}
  const random = seededRandom(lossSeed)
  return createTransports({ websocket, webrtc: { bindAddress: local } }, modules).map(
    (transport) => new LossyTransport({ lossRate }, { transport, random: random.fork(transport.kind) }),
  )
}

let running: NodeProcess | undefined

process.on('message', (order: NodeOrder) => {
  if (order.do === 'start') {
    running = new NodeProcess(order)
    running.start().catch((error: unknown) => {
      console.error(error)
      process.exit(1)
    })
  } else if (order.do === 'publish') running?.publish(order.messages, order.intervalMs)
  else running?.report(order.chains, order.limitMs)
})
process.on('disconnect', () => process.exit(0))
