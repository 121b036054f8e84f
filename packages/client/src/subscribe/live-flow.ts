import { ChainOrder, chainOrderLimits, type Gap, type NetworkNode, type Ordered } from '@runnel/network'
import {
  toStreamPartId,
  type MessageChain,
  type MessageRef,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'

/** Where messages and gaps of a subscription come out. */
export interface Sink {
  message(message: StreamMessage): void
  gap(gap: Gap): void
}

/** The way of live messages, and of the gaps the node gave up, to a subscription. */
export interface LiveFlow {
  /** Reports the gaps it skips. */
  readonly isOrdered: boolean
  /** Messages left out because they came after their place had been passed. */
  readonly late: number
  message(message: StreamMessage): void
  gap(gap: Gap): void
  /** All of a chain up to a place has been delivered by another way. */
  start(chain: MessageChain, last: MessageRef): void
  /** Ends the input and releases held messages. */
  end(): void
  /** Only of one that keeps order: what waits on its way here is no less missing than what the node lacks. */
  waitAlsoFor?(isOnItsWay: (chain: MessageChain, place: MessageRef) => boolean): void
  /** What was on its way has come, or does not come. */
  recheck?(): void
}

/** As they come. */
export class ArrivalFlow implements LiveFlow {
  readonly isOrdered = false
  readonly late = 0
  readonly #sink: Sink

  constructor(sink: Sink) {
    this.#sink = sink
  }

  message(message: StreamMessage): void {
    this.#sink.message(message)
  }

  gap(gap: Gap): void {
    this.#sink.gap(gap)
  }

  start(): void {}

  end(): void {}
}

/** Each chain in order; waits for missing messages as long as the node does. */
export class OrderedFlow implements LiveFlow {
  readonly isOrdered = true
  readonly #sink: Sink
  readonly #order: ChainOrder
  #isOnItsWay = (_chain: MessageChain, _place: MessageRef): boolean => false

  constructor(sink: Sink, modules: { node: Pick<NetworkNode, 'isMissing'> }) {
    this.#sink = sink
    this.#order = new ChainOrder(chainOrderLimits, {
      isMissing: (chain, place) =>
        modules.node.isMissing(streamPartOf(chain), chain, place) || this.#isOnItsWay(chain, place),
    })
  }

  get late(): number {
    return this.#order.counters.late
  }

  message(message: StreamMessage): void {
    this.#give(this.#order.push(message))
  }

  gap({ chain, after, upTo }: Gap): void {
    this.#give(this.#order.gap(chain, after, upTo))
  }

  start(chain: MessageChain, last: MessageRef): void {
    this.#give(this.#order.start(chain, last))
  }

  end(): void {
    this.#give(this.#order.flush())
  }

  waitAlsoFor(isOnItsWay: (chain: MessageChain, place: MessageRef) => boolean): void {
    this.#isOnItsWay = isOnItsWay
  }

  recheck(): void {
    this.#give(this.#order.recheck())
  }

  #give(items: readonly Ordered[]): void {
    for (const item of items) {
      if (item.kind === 'message') this.#sink.message(item.message)
      else {
        const { chain, after, upTo } = item
        this.#sink.gap({ streamPartId: streamPartOf(chain), chain, after, upTo })
      }
    }
  }
}

export function streamPartOf({ streamId, partition }: MessageChain): StreamPartId {
  return toStreamPartId(streamId, partition)
}
