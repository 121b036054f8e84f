import { ChainOrder, chainOrderLimits, type Delivery, type NetworkNode, type Ordered } from '@runnel/network'
import type { NodeId, StreamPartId } from '@runnel/protocol'
import { messageNumber } from '../world/chain-publisher.ts'
import { ChainLedger } from './chain-ledger.ts'
import { GapWatch } from './gap-watch.ts'
import { mean } from './statistics.ts'

export interface SubscriberModules {
  readonly node: NetworkNode
  nowMs(): number
  /** What the application is given. */
  onDelivered(publisherId: NodeId, number: number): void
}

/** Reads a node as an application does: through the ordering that the client uses. */
export class Subscriber {
  readonly #streamPartId: StreamPartId
  readonly #modules: SubscriberModules
  readonly #order: ChainOrder
  readonly #ledgers = new Map<NodeId, ChainLedger>()
  readonly #watches = new Map<NodeId, GapWatch>()
  /** Messages in gaps that were given up. */
  gapsGivenUp = 0

  constructor({ streamPartId }: { readonly streamPartId: StreamPartId }, modules: SubscriberModules) {
    this.#streamPartId = streamPartId
    this.#modules = modules
    const { node } = modules
    this.#order = new ChainOrder(chainOrderLimits, {
      isMissing: (chain, place) => node.isMissing(streamPartId, chain, place),
    })
    node.on('message', (delivery) => this.#arrived(delivery))
    node.on('gap', ({ chain, after, upTo }) => this.#release(this.#order.gap(chain, after, upTo)))
  }

  /** What came of one publisher's chain. */
  ledger(publisherId: NodeId): ChainLedger {
    return getOrMake(this.#ledgers, publisherId, () => new ChainLedger())
  }

  get watches(): Iterable<GapWatch> {
    return this.#watches.values()
  }

  #arrived({ message }: Delivery): void {
    const { publisherId, content } = message
    const watch = getOrMake(this.#watches, publisherId, () => new GapWatch())
    watch.arrived(messageNumber(content), this.#modules.nowMs(), () => this.#meanRttMs())
    this.#release(this.#order.push(message))
  }

  #release(released: readonly Ordered[]): void {
    for (const item of released) {
      if (item.kind === 'gap') {
        this.gapsGivenUp++
        continue
      }
      const { publisherId, content } = item.message
      const number = messageNumber(content)
      this.ledger(publisherId).add(number)
      this.#modules.onDelivered(publisherId, number)
    }
  }

  #meanRttMs(): number | undefined {
    const part = this.#modules.node
      .metrics()
      .streamParts.find(({ streamPartId }) => streamPartId === this.#streamPartId)
    return mean((part?.neighbours ?? []).flatMap(({ rttMs }) => (rttMs === undefined ? [] : [rttMs])))
  }
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}
