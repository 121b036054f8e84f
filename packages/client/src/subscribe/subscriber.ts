import type { Delivery, NetworkNode } from '@runnel/network'
import { toStreamPartId, type Clock, type Identity, type StreamId, type StreamPartId } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { requirePermission } from '../permission.ts'
import { checkPartition } from '../publish/partition.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { StatusHub } from '../status.ts'
import type { StreamParts } from '../stream-parts.ts'
import { deliver } from './pipeline.ts'
import { QueuedSubscription, type OnMessage, type Subscription } from './subscription.ts'

export interface SubscribeOptions {
  /** Default: all partitions the stream has now. */
  readonly partitions?: readonly number[] | undefined
  /** Deliver every content as the bytes it came in. Default false. */
  readonly raw?: boolean | undefined
  /** Messages kept for a slow consumer. Default: the client's `subscribe.maxQueuedMessages`. */
  readonly maxQueuedMessages?: number | undefined
  /** Content bytes kept for a slow consumer. Default: the client's `subscribe.maxQueuedBytes`. */
  readonly maxQueuedBytes?: number | undefined
}

export interface SubscriberOptions {
  readonly maxQueuedMessages: number
  readonly maxQueuedBytes: number
}

export interface SubscriberModules {
  readonly node: NetworkNode
  readonly cache: RegistryCache
  readonly parts: StreamParts
  readonly identity: Identity
  readonly clock: Clock
  readonly status: StatusHub
}

/** Subscribes, and hands what the node delivers to the subscriptions of its stream part. */
export class Subscriber {
  readonly #options: SubscriberOptions
  readonly #modules: SubscriberModules
  readonly #byStreamPart = new Map<StreamPartId, Set<QueuedSubscription>>()
  readonly #all = new Set<QueuedSubscription>()
  #closed = false

  constructor(options: SubscriberOptions, modules: SubscriberModules) {
    this.#options = options
    this.#modules = modules
  }

  /** To be given every message the node delivers. */
  receive(delivery: Delivery): void {
    const subscriptions = this.#byStreamPart.get(delivery.streamPartId)
    if (subscriptions === undefined) return
    for (const subscription of [...subscriptions]) deliver(delivery, subscription, this.#modules)
  }

  async subscribe(
    streamId: StreamId,
    options: SubscribeOptions,
    onMessage: OnMessage | undefined,
  ): Promise<Subscription> {
    const { identity } = this.#modules
    const stream = await requirePermission('subscribe', streamId, identity.nodeId, this.#modules)
    if (this.#closed) throw clientError('CLIENT_CLOSED')
    const partitions = choosePartitions(stream, options.partitions)
    const subscription = this.#open(stream, partitions, options)
    if (onMessage !== undefined) void subscription.deliverTo(onMessage)
    return subscription
  }

  /** Ends every subscription, after what is queued for it. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#all].map((subscription) => subscription.unsubscribe()))
  }

  #open(stream: StreamInfo, partitions: readonly number[], options: SubscribeOptions): QueuedSubscription {
    const { node, parts, status } = this.#modules
    const streamPartIds = partitions.map((partition) => toStreamPartId(stream.id, partition))
    const subscription: QueuedSubscription = new QueuedSubscription(
      {
        streamId: stream.id,
        partitions,
        streamPartIds,
        raw: options.raw ?? false,
        maxItems: options.maxQueuedMessages ?? this.#options.maxQueuedMessages,
        maxBytes: options.maxQueuedBytes ?? this.#options.maxQueuedBytes,
      },
      {
        node,
        events: {
          slow: (dropped) => status.emit({ type: 'slow-consumer', streamId: stream.id, dropped }),
          callbackFailed: (error) => status.emit({ type: 'callback-failed', streamId: stream.id, error }),
          ended: () => {
            this.#forget(subscription)
            for (const release of releases) release()
          },
        },
      },
    )
    this.#all.add(subscription)
    for (const id of streamPartIds)
      this.#byStreamPart.set(id, (this.#byStreamPart.get(id) ?? new Set()).add(subscription))
    // After it is listed: what the node delivers while joining is not to be missed.
    const releases = partitions.map((partition) => parts.join(stream, partition))
    return subscription
  }

  #forget(subscription: QueuedSubscription): void {
    this.#all.delete(subscription)
    for (const id of subscription.streamPartIds) {
      const subscriptions = this.#byStreamPart.get(id)
      subscriptions?.delete(subscription)
      if (subscriptions?.size === 0) this.#byStreamPart.delete(id)
    }
  }
}

function choosePartitions(stream: StreamInfo, wanted: readonly number[] | undefined): readonly number[] {
  if (wanted === undefined) return Array.from({ length: stream.partitions }, (_, partition) => partition)
  if (wanted.length === 0) throw clientError('INVALID_ARGUMENT', 'an empty list of partitions')
  return [...new Set(wanted)].map((partition) => checkPartition(partition, stream))
}
