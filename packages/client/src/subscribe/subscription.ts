import type { Gap, NetworkNode } from '@runnel/network'
import type { StreamId, StreamMessage, StreamPartId } from '@runnel/protocol'
import type { ContentSteps } from '../content/content-steps.ts'
import { decodeMessage, type Decoding } from '../content/decode.ts'
import { OpeningLanes } from '../content/opening-lanes.ts'
import { clientError } from '../errors.ts'
import { BoundedQueue, type BoundedQueueLimits } from '../queue/bounded-queue.ts'
import type { MessageEquivocation } from './equivocation.ts'
import { toMessageGap, type MessageGap } from './gap.ts'
import type { HistoryJoin } from './history-join.ts'
import { ArrivalFlow, OrderedFlow, type LiveFlow, type Sink } from './live-flow.ts'
import type { Message } from './message.ts'

/** How a subscription has fared so far. */
export interface SubscriptionCounters {
  /** Messages that arrived, verified, new and in their turn. */
  readonly received: number
  /** Messages the application took. */
  readonly delivered: number
  /** Messages dropped, the oldest first, because the application was too slow. */
  readonly dropped: number
  /** Messages left out because their content could not be opened or decoded. */
  readonly undecodable: number
  /** Calls of the callback that threw or rejected. */
  readonly callbackFailures: number
  /** Gaps that were given up: see the status 'gap'. */
  readonly gaps: number
  /**
   * Faults in the work of the subscription: messages that waited for their turn were delivered without waiting. See the status
   * 'fault'.
   */
  readonly faults: number
  /** Messages left out because later ones had been delivered already: a gap was given up too early. */
  readonly late: number
}

/** Called for each message. A promise it returns is awaited before the next message; its errors become a status. */
export type OnMessage<T = unknown> = (message: Message<T>) => unknown

/** Messages of a stream, from now on, until `unsubscribe`: iterate over it, unless a callback was given. */
export interface Subscription<T = unknown> extends AsyncIterable<Message<T>>, AsyncDisposable {
  readonly streamId: StreamId
  readonly partitions: readonly number[]
  readonly streamPartIds: readonly StreamPartId[]
  /** Resolves when the node has at least `count` (default 1) neighbours in every subscribed partition. */
  waitForNeighbours(options?: { count?: number; signal?: AbortSignal }): Promise<void>
  /**
   * Resolves when the history asked for with `resend` was delivered and live messages flow; at once without it. Rejects with
   * RESEND_FAILED, RESEND_DENIED or what the registry throws when history could not be read completely.
   */
  caughtUp(): Promise<void>
  counters(): SubscriptionCounters
  /**
   * Takes no more messages, and leaves stream parts that nothing else in this client uses. Queued messages can still be iterated
   * over. Leaving a `for await` loop does the same. Idempotent.
   */
  unsubscribe(): Promise<void>
}

export interface SubscriptionOptions extends BoundedQueueLimits {
  readonly streamId: StreamId
  readonly partitions: readonly number[]
  readonly streamPartIds: readonly StreamPartId[]
  readonly decoding: Decoding
  readonly order: 'chain' | 'arrival'
}

export interface SubscriptionEvents {
  slow(dropped: number): void
  callbackFailed(error: unknown): void
  gap(gap: MessageGap): void
  equivocation(equivocation: MessageEquivocation): void
  undecodable(message: StreamMessage, error: unknown): void
  /** Exactly once. */
  ended(): void
}

/** One subscriber of some stream parts, with its queue. */
export class QueuedSubscription implements Subscription, Sink {
  readonly streamId: StreamId
  readonly partitions: readonly number[]
  readonly streamPartIds: readonly StreamPartId[]
  /** Where the node's messages go in. */
  flow: LiveFlow
  readonly #decoding: Decoding
  readonly #opening: OpeningLanes
  readonly #queue: BoundedQueue<Message>
  readonly #node: NetworkNode
  readonly #events: SubscriptionEvents
  readonly #counters = {
    received: 0,
    delivered: 0,
    dropped: 0,
    undecodable: 0,
    callbackFailures: 0,
    gaps: 0,
    faults: 0,
  }
  readonly #newFlow: () => LiveFlow
  #caughtUp: Promise<void> = Promise.resolve()
  #hasCallback = false
  #slow = false
  #ended = false

  constructor(
    options: SubscriptionOptions,
    modules: { node: NetworkNode; steps: Pick<ContentSteps, 'open'>; events: SubscriptionEvents },
  ) {
    this.streamId = options.streamId
    this.partitions = options.partitions
    this.streamPartIds = options.streamPartIds
    this.#decoding = options.decoding
    this.#queue = new BoundedQueue(options)
    this.#opening = new OpeningLanes(options, {
      open: (message) => modules.steps.open(message),
      events: {
        opened: (message, sealed) => this.#enqueue(message, sealed),
        failed: (message, error) => this.#leaveOut(message, error),
      },
    })
    this.#node = modules.node
    this.#events = modules.events
    this.#newFlow = () => (options.order === 'chain' ? new OrderedFlow(this, modules) : new ArrivalFlow(this))
    this.flow = this.#newFlow()
  }

  /** After a fault: delivers waiting messages if possible, and orders later ones from here on. */
  beginAnew(): void {
    const { flow } = this
    this.#counters.faults++
    this.flow = this.#newFlow()
    try {
      flow.end()
    } catch {
      // Of the fault is told already.
    }
  }

  /**
   * The end of a message's way through the client: it is opened, content becomes bytes, text or a value, and waits in the
   * queue. What cannot be read is counted and reported, and goes no further; when there are too many, the oldest make room.
   */
  message(message: StreamMessage): void {
    this.#counters.received++
    if (this.#decoding.raw === true) this.#enqueue(message, message)
    else this.#noteDropped(this.#opening.push(message))
  }

  #enqueue(message: StreamMessage, sealed: StreamMessage): void {
    let decoded
    try {
      decoded = decodeMessage(message, this.#decoding, sealed)
    } catch (error) {
      this.#leaveOut(sealed, error)
      return
    }
    this.#noteDropped(this.#queue.push(decoded, message.content.length))
  }

  #leaveOut(message: StreamMessage, error: unknown): void {
    this.#counters.undecodable++
    this.#events.undecodable(message, error)
  }

  #noteDropped(dropped: number): void {
    if (dropped === 0) return
    this.#counters.dropped += dropped
    if (this.#slow) return
    this.#slow = true
    this.#events.slow(this.#counters.dropped)
  }

  /** Messages that will not come. */
  gap(gap: Gap): void {
    this.#counters.gaps++
    this.#events.gap(toMessageGap(gap))
  }

  /** A publisher signed two messages for one place: one of them may have been delivered here. */
  equivocation(equivocation: MessageEquivocation): void {
    this.#events.equivocation(equivocation)
  }

  /** Resolves when most of the messages are opened, and the application has taken most of those. */
  async room(): Promise<void> {
    if (!this.#opening.isEmpty) await this.#opening.room()
    return this.#queue.room()
  }

  /** Begins with history, which `join` reads; until it has, live messages wait. */
  async readFirst(join: HistoryJoin): Promise<void> {
    this.flow = join
    this.#caughtUp = join.run().then(() => this.#opening.settled())
    // Whoever wants to know asks `caughtUp`; a failure is a status, too.
    await this.#caughtUp.catch(() => {})
  }

  caughtUp(): Promise<void> {
    return this.#caughtUp
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
    return { ...this.#counters, late: this.flow.late }
  }

  async unsubscribe(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    try {
      this.flow.end()
    } finally {
      if (this.#opening.isEmpty) this.#queue.close()
      else void this.#opening.settled().then(() => this.#queue.close())
      this.#events.ended()
    }
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
