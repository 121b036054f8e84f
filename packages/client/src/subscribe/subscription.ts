import type { NetworkNode } from '@runnel/network'
import type { StreamId, StreamPartId } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { BoundedQueue, type BoundedQueueLimits } from '../queue/bounded-queue.ts'
import type { Message } from './message.ts'

/** How a subscription has fared so far. */
export interface SubscriptionCounters {
  /** Messages that arrived, verified and new. */
  readonly received: number
  /** Messages the application took. */
  readonly delivered: number
  /** Messages dropped, the oldest first, because the application was too slow. */
  readonly dropped: number
  /** Messages left out because their content is not what it says. */
  readonly undecodable: number
  /** Calls of the callback that threw or rejected. */
  readonly callbackFailures: number
}

/** Called for each message. A promise it returns is awaited before the next message; what it throws becomes a status. */
export type OnMessage = (message: Message) => unknown

/** Messages of a stream, from now on, until `unsubscribe`: iterate over it, unless a callback was given. */
export interface Subscription extends AsyncIterable<Message>, AsyncDisposable {
  readonly streamId: StreamId
  readonly partitions: readonly number[]
  readonly streamPartIds: readonly StreamPartId[]
  /** Resolves when the node has at least `count` (default 1) neighbours in every subscribed partition. */
  waitForNeighbours(options?: { count?: number; signal?: AbortSignal }): Promise<void>
  counters(): SubscriptionCounters
  /**
   * Takes no more messages, and leaves the stream parts nobody else here uses. What is queued can still be iterated over.
   * Leaving a `for await` loop does the same. Idempotent.
   */
  unsubscribe(): Promise<void>
}

export interface SubscriptionOptions extends BoundedQueueLimits {
  readonly streamId: StreamId
  readonly partitions: readonly number[]
  readonly streamPartIds: readonly StreamPartId[]
  readonly raw: boolean
}

export interface SubscriptionEvents {
  slow(dropped: number): void
  callbackFailed(error: unknown): void
  /** Exactly once. */
  ended(): void
}

/** One subscriber of some stream parts, with its queue. */
export class QueuedSubscription implements Subscription {
  readonly streamId: StreamId
  readonly partitions: readonly number[]
  readonly streamPartIds: readonly StreamPartId[]
  /** Deliver bytes as they are. */
  readonly raw: boolean
  readonly #queue: BoundedQueue<Message>
  readonly #node: NetworkNode
  readonly #events: SubscriptionEvents
  readonly #counters = { received: 0, delivered: 0, dropped: 0, undecodable: 0, callbackFailures: 0 }
  #hasCallback = false
  #slow = false
  #ended = false

  constructor(options: SubscriptionOptions, modules: { node: NetworkNode; events: SubscriptionEvents }) {
    this.streamId = options.streamId
    this.partitions = options.partitions
    this.streamPartIds = options.streamPartIds
    this.raw = options.raw
    this.#queue = new BoundedQueue(options)
    this.#node = modules.node
    this.#events = modules.events
  }

  /** Adds a message; the oldest go when there are too many. */
  push(message: Message, bytes: number): void {
    this.#counters.received++
    const dropped = this.#queue.push(message, bytes)
    if (dropped === 0) return
    this.#counters.dropped += dropped
    if (this.#slow) return
    this.#slow = true
    this.#events.slow(this.#counters.dropped)
  }

  /** A message that could not be decoded. */
  countUndecodable(): void {
    this.#counters.received++
    this.#counters.undecodable++
  }

  /** Delivers to a callback from now on. */
  async deliverTo(onMessage: OnMessage): Promise<void> {
    this.#hasCallback = true
    for (;;) {
      const { done, value } = await this.#next()
      if (done) return
      try {
        await onMessage(value)
      } catch (error) {
        this.#counters.callbackFailures++
        this.#events.callbackFailed(error)
      }
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    if (this.#hasCallback) {
      throw clientError('INVALID_ARGUMENT', 'a subscription with a callback cannot be iterated over')
    }
    return {
      next: () => this.#next(),
      return: async () => {
        await this.unsubscribe()
        return { done: true, value: undefined }
      },
    }
  }

  async waitForNeighbours(options: { count?: number; signal?: AbortSignal } = {}): Promise<void> {
    await Promise.all(this.streamPartIds.map((id) => this.#node.waitForNeighbours(id, options)))
  }

  counters(): SubscriptionCounters {
    return { ...this.#counters }
  }

  async unsubscribe(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    this.#queue.close()
    this.#events.ended()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.unsubscribe()
  }

  async #next(): Promise<IteratorResult<Message, undefined>> {
    const result = await this.#queue.next()
    if (!result.done) this.#counters.delivered++
    if (this.#queue.length === 0) this.#slow = false
    return result
  }
}
