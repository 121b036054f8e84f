import type { Gap, NetworkNode } from '@runnel/network'
import { toStreamPartId, type StreamId, type StreamMessage, type StreamPartId } from '@runnel/protocol'
import type { ContentSteps } from '../content/content-steps.ts'
import { OpeningLanes } from '../content/opening-lanes.ts'
import type { MessageEquivocation } from './equivocation.ts'
import { toMessageGap, type MessageGap } from './gap.ts'
import type { HistoryJoin } from './history-join.ts'
import type { Inbox } from './inbox.ts'
import { ArrivalFlow, OrderedFlow, type LiveFlow, type Sink } from './live-flow.ts'
import type { Message } from './message.ts'

/** How a subscription has fared so far. */
export interface SubscriptionCounters {
  /** Messages that arrived: verified, new and in their turn. */
  readonly received: number
  /** Messages that the application took. */
  readonly delivered: number
  /** Messages dropped, the oldest first, because the application was too slow. */
  readonly dropped: number
  /** Messages left out because their content could not be opened or decoded. */
  readonly undecodable: number
  /** Calls of the callback that threw or rejected. */
  readonly callbackFailures: number
  /** Gaps given up: see the status 'gap'. */
  readonly gaps: number
  /**
   * Faults in the work of the subscription, after which messages waiting for their turn were delivered without waiting. See the
   * status 'fault'.
   */
  readonly faults: number
  /** Messages left out because later ones had already been delivered: a gap was given up too early. */
  readonly late: number
}

/**
 * Messages of a stream, or of all streams under a prefix, from now on until `unsubscribe`. Iterate over it, unless a callback was
 * given.
 */
export interface Subscription<T = unknown> extends AsyncIterable<Message<T>>, AsyncDisposable {
  /** The stream, or the prefix with `/#`. */
  readonly streamId: string
  /** The partitions subscribed to now; empty for a prefix, whose streams have their own. */
  readonly partitions: readonly number[]
  /** The stream parts it is subscribed to now. */
  readonly streamPartIds: readonly StreamPartId[]
  /** Resolves when the node has at least `count` (default 1) neighbours in every subscribed partition. */
  waitForNeighbours(options?: { count?: number; signal?: AbortSignal }): Promise<void>
  /**
   * Resolves when the history asked for with `resend` has been delivered and live messages flow; without `resend`, at once. Rejects
   * with RESEND_FAILED, RESEND_DENIED or an error of the registry if history could not be read completely.
   */
  caughtUp(): Promise<void>
  counters(): SubscriptionCounters
  /**
   * Takes no more messages, and leaves stream parts that nothing else in this client uses. Queued messages can still be iterated
   * over. Leaving a `for await` loop has the same effect. Idempotent.
   */
  unsubscribe(): Promise<void>
}

export interface SubscriptionOptions {
  readonly streamId: StreamId
  readonly partitions: readonly number[]
  readonly order: 'chain' | 'arrival'
  readonly urgent: boolean | 'others'
}

export interface SubscriptionEvents {
  gap(gap: MessageGap): void
  equivocation(equivocation: MessageEquivocation): void
  undecodable(message: StreamMessage, error: unknown): void
  /** Exactly once; `opened` resolves when all it took is in the inbox, and is undefined when it is. */
  ended(opened: Promise<void> | undefined): void
}

export interface SubscriptionModules {
  readonly node: NetworkNode
  readonly steps: Pick<ContentSteps, 'open'>
  readonly inbox: Inbox
  readonly events: SubscriptionEvents
}

/** One subscriber of some parts of a stream. */
export class QueuedSubscription implements Subscription, Sink {
  readonly streamId: StreamId
  /** Whether urgent messages are delivered, past the flow; `others`: those that this client did not publish. */
  readonly takesUrgent: boolean | 'others'
  /** Where the node's messages go in. */
  flow: LiveFlow
  readonly #partitions: number[]
  readonly #opening: OpeningLanes
  readonly #inbox: Inbox
  readonly #node: NetworkNode
  readonly #events: SubscriptionEvents
  readonly #counters = { received: 0, undecodable: 0, gaps: 0, faults: 0 }
  readonly #newFlow: () => LiveFlow
  #caughtUp: Promise<void> = Promise.resolve()
  #ended = false

  constructor(options: SubscriptionOptions, modules: SubscriptionModules) {
    this.streamId = options.streamId
    this.#partitions = [...options.partitions]
    this.takesUrgent = options.urgent
    this.#inbox = modules.inbox
    this.#opening = new OpeningLanes(modules.inbox.opening, {
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

  get partitions(): readonly number[] {
    return this.#partitions
  }

  get streamPartIds(): readonly StreamPartId[] {
    return this.#partitions.map((partition) => toStreamPartId(this.streamId, partition))
  }

  /** It is subscribed to these, too. */
  takeIn(partitions: readonly number[]): void {
    this.#partitions.push(...partitions)
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
   * The end of a message's way through the client: it is opened, and goes to the inbox. What cannot be read is counted and
   * reported, and goes no further.
   */
  message(message: StreamMessage): void {
    this.#counters.received++
    if (this.#inbox.decoding.raw === true) this.#enqueue(message, message)
    else this.#inbox.noteDropped(this.streamId, this.#opening.push(message))
  }

  #enqueue(message: StreamMessage, sealed: StreamMessage): void {
    try {
      this.#inbox.push(message, sealed)
    } catch (error) {
      this.#leaveOut(sealed, error)
    }
  }

  #leaveOut(message: StreamMessage, error: unknown): void {
    this.#counters.undecodable++
    this.#events.undecodable(message, error)
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

  /** Begins with history, which `join` reads when `run` has it; until it has, live messages wait. */
  async readFirst(join: HistoryJoin, run: () => Promise<void> = () => join.run()): Promise<void> {
    this.flow = join
    this.#caughtUp = run().then(() => this.#opening.settled())
    // Whoever wants to know asks `caughtUp`; a failure is a status, too.
    await this.#caughtUp.catch(() => {})
  }

  caughtUp(): Promise<void> {
    return this.#caughtUp
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    return this.#inbox.iterate(() => this.unsubscribe())
  }

  async waitForNeighbours(options: { count?: number; signal?: AbortSignal } = {}): Promise<void> {
    await Promise.all(this.streamPartIds.map((id) => this.#node.waitForNeighbours(id, options)))
  }

  counters(): SubscriptionCounters {
    return { ...this.#counters, ...this.#inbox.counters(), late: this.flow.late }
  }

  async unsubscribe(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    try {
      this.flow.end()
    } finally {
      this.#events.ended(this.#opening.isEmpty ? undefined : this.#opening.settled())
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.unsubscribe()
  }
}
