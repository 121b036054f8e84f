import type { NetworkNode } from '@runnel/network'
import {
  keyTagExtension,
  limits,
  parseStreamPartId,
  removalExtension,
  toStreamPartId,
  type Clock,
  type Crypto,
  type Extension,
  type Random,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { ContentSteps } from '../content/content-steps.ts'
import { encodeContent, type BytesAre } from '../content/encode.ts'
import type { EncodedContent } from '../content/encoded-content.ts'
import type { MessageHeaders } from '../content/headers.ts'
import { tagOfKey } from '../content/message-key.ts'
import { deadline } from '../deadline.ts'
import { clientError } from '../errors.ts'
import type { ActingUser } from '../identity/acting-user.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { requirePermission } from '../permission.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { DelegationChecks } from '../registry/registry-delegations.ts'
import type { StatusHub } from '../status.ts'
import type { StreamParts } from '../stream-parts.ts'
import { PartOutbox, type PreparedMessage, type PublishedMessage } from './part-outbox.ts'
import { anyPartition, checkPartition, partitionOfKey } from './partition.ts'
import { UrgentNumbers, urgentChainId, type UrgentOptions } from './urgent-options.ts'
import { QueueBudget, type QueueBudgetLimits } from './queue-budget.ts'

/** Where a message goes, and its timestamp. Without a partition or a key, the client stays with one partition. */
export interface PublishOptions {
  /** The partition to publish to. */
  readonly partition?: number | undefined
  /**
   * The key whose value the message is, such as a sensor: text of up to 256 bytes of UTF-8. `last` and `table` return the newest message of each
   * key. If the stream is encrypted, the key is sealed with the content; a tag computed from the key is not, so anyone who can guess the key can
   * recognise it. Chooses the partition as `partitionKey` does, unless `partitionKey` or `partition` is given.
   */
  readonly key?: string | undefined
  /**
   * Messages with the same partition key go to the same partition: see `partitionOfKey`. Without a partition or a key, a client takes one
   * partition of the stream at random and stays with it, which keeps its messages in order.
   */
  readonly partitionKey?: string | undefined
  /**
   * Unix milliseconds: not before the client's last message in the partition, at most five minutes ahead of the clock, and at most half of
   * `maxLiveAgeMs` (five minutes) behind it. Default: now.
   */
  readonly timestamp?: number | undefined
  /**
   * Text by name that goes with the content: at most 32 headers, with names of up to 64 bytes of printable ASCII and values of up to 1,024 bytes.
   * Part of the content: signed, and encrypted if the stream is.
   */
  readonly headers?: MessageHeaders | undefined
  /** What the bytes of a Uint8Array are: JSON or text, which subscribers get as such. Default: binary content. */
  readonly bytesAre?: BytesAre | undefined
  /**
   * Makes the message urgent, with `true` or with options: it goes before all others, and is worthless when late. Not for messages with a key.
   * Default: an ordinary message.
   */
  readonly urgent?: true | UrgentOptions | undefined
  /** Cancels the message, unless it has already been handed to the network. */
  readonly signal?: AbortSignal | undefined
}

const publishOptions: OptionNames<PublishOptions> = {
  ...{ partition: true, key: true, partitionKey: true, timestamp: true, headers: true, signal: true },
  ...{ bytesAre: true, urgent: true },
}

/** Options of a message made by `prepare`: see `PublishOptions`. */
export interface PrepareOptions extends Pick<PublishOptions, 'partition' | 'partitionKey' | 'headers'> {
  readonly urgent: true | UrgentOptions
}

const prepareOptions: OptionNames<PrepareOptions> = {
  ...{ partition: true, partitionKey: true, headers: true, urgent: true },
}

export interface PublisherOptions extends QueueBudgetLimits {
  /** How long the first message in a stream part waits for a neighbour. */
  readonly waitForNeighboursMs: number
  /** How long ago a given timestamp may be. */
  readonly maxBehindMs: number
}

export interface PublisherModules {
  readonly node: NetworkNode
  readonly cache: RegistryCache
  readonly delegations: DelegationChecks
  readonly parts: StreamParts
  readonly user: ActingUser
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly status: StatusHub
  readonly steps: Pick<ContentSteps, 'seal'>
}

/** How long after a message published alone somebody who joined at the same time may still come. */
const joiningMs = 1_000

interface JoinedOutbox {
  readonly outbox: PartOutbox
  readonly urgent: PartOutbox
  /** Leaves the stream part; undefined after that was done. */
  leave: (() => void) | undefined
}

/** Publishes: checks, chooses the partition, and puts messages in order into the outbox of their stream part. */
export class Publisher {
  readonly #options: PublisherOptions
  readonly #modules: PublisherModules
  readonly #budget: QueueBudget
  /** Of urgent messages, which wait for nothing: what waits of others must not keep them out. */
  readonly #urgentBudget: QueueBudget
  /** One chain of messages per client and stream part. */
  readonly #messageChainId: string
  readonly #outboxes = new Map<StreamPartId, JoinedOutbox>()
  readonly #urgentNumbers = new UrgentNumbers()
  readonly #usualPartitions = new Map<StreamId, number>()
  /** The checks of a stream's messages, one after the other, so that the messages stay in the order of the calls. */
  readonly #lanes = new Map<StreamId, Promise<unknown>>()
  readonly #closing = new AbortController()
  #onEmpty: () => void = () => {}

  constructor(options: PublisherOptions, modules: PublisherModules) {
    this.#options = options
    this.#modules = modules
    this.#budget = new QueueBudget(options)
    this.#urgentBudget = new QueueBudget(options)
    this.#messageChainId = modules.random
      .bytes(10)
      .reduce((hex, byte) => hex + byte.toString(16).padStart(2, '0'), '')
  }

  /** Resolves when the message was handed to the network. With `removes` it takes the value of its key away. */
  async publish(
    streamId: StreamId,
    content: unknown,
    options: PublishOptions,
    removes = false,
  ): Promise<PublishedMessage> {
    checkOptions('publish', options, publishOptions)
    if (options.signal?.aborted) throw clientError('ABORTED', undefined, { cause: options.signal.reason })
    requireOnePartition(options)
    const { key, urgent } = options
    if (urgent !== undefined && key !== undefined)
      throw clientError('INVALID_ARGUMENT', 'an urgent message is not kept, so it has no key')
    const encoded =
      urgent === undefined
        ? encodeWith(content, { streamId, removes, ...options })
        : encodeUrgent(content, options, this.#urgentNumbers.extension(urgent))
    const budget = urgent === undefined ? this.#budget : this.#urgentBudget
    return this.#within(budget, encoded, async () => {
      const { sent } = await this.#inLane(streamId, () => this.#enqueue(streamId, encoded, options))
      return sent
    })
  }

  /** Makes an urgent message ready, which is sent later: see `RunnelClient.prepare`. */
  async prepare(streamId: StreamId, content: unknown, options: PrepareOptions): Promise<PreparedMessage> {
    checkOptions('prepare', options, prepareOptions)
    requireOnePartition(options)
    const encoded = encodeUrgent(content, options, this.#urgentNumbers.extension(options.urgent))
    return this.#within(this.#urgentBudget, encoded, async () => {
      const { urgent } = await this.#inLane(streamId, () => this.#outboxFor(streamId, options))
      return urgent.prepare(encoded)
    })
  }

  /** The message counts until the work is done. Throws PUBLISH_QUEUE_FULL. */
  async #within<T>(budget: QueueBudget, { bytes }: EncodedContent, work: () => Promise<T>): Promise<T> {
    budget.take(bytes.length)
    try {
      return await work()
    } finally {
      budget.giveBack(bytes.length)
      if (this.#waiting === 0) this.#onEmpty()
    }
  }

  /** Resolves when half of the queue is free; undefined when it is. */
  room(): Promise<void> | undefined {
    return this.#budget.hasRoom ? undefined : this.#budget.room()
  }

  /**
   * Waits until all that was published is handed over, or the signal is aborted; what was published alone just now waits a second for
   * somebody who joins. Returns how many messages are left.
   */
  async drain(signal: AbortSignal): Promise<number> {
    if (this.#waiting > 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    await Promise.all([...this.#outboxes].map(([id, joined]) => this.#company(id, joined, signal)))
    return this.#waiting
  }

  get #waiting(): number {
    return this.#budget.messages + this.#urgentBudget.messages
  }

  /** Waits for whoever joins at the same time as a message was published alone. */
  async #company(
    streamPartId: StreamPartId,
    { outbox, leave }: JoinedOutbox,
    ending: AbortSignal,
  ): Promise<void> {
    const { node, clock } = this.#modules
    const patienceMs = Math.min(joiningMs, this.#options.waitForNeighboursMs)
    const leftMs = outbox.aloneMs + patienceMs - clock.monotonicMs()
    if (leave === undefined || leftMs <= 0) return
    const { signal, end } = deadline(clock, leftMs, ending)
    // Nobody came.
    await node.waitForNeighbours(streamPartId, { signal }).catch(() => {})
    end()
  }

  /** Rejects unsent messages with CLIENT_CLOSED. */
  close(): void {
    this.#closing.abort()
    for (const { outbox, urgent } of this.#outboxes.values()) {
      outbox.close()
      urgent.close()
    }
  }

  /** Leaves the stream parts joined for publishing, once their messages are handed over. */
  leave(streamId: StreamId): Promise<void> {
    return this.#inLane(streamId, async () => {
      for (const [streamPartId, joined] of this.#outboxes) {
        if (parseStreamPartId(streamPartId).streamId !== streamId) continue
        await Promise.all([joined.outbox.settled(), joined.urgent.settled()])
        joined.leave?.()
        joined.leave = undefined
      }
    })
  }

  #inLane<T>(streamId: StreamId, run: () => Promise<T>): Promise<T> {
    const result = (this.#lanes.get(streamId) ?? Promise.resolve()).then(run)
    const lane = result
      .catch(() => {})
      .then(() => {
        if (this.#lanes.get(streamId) === lane) this.#lanes.delete(streamId)
      })
    this.#lanes.set(streamId, lane)
    return result
  }

  /** In an object, so that the lane goes on without waiting until the message is sent. */
  async #enqueue(
    streamId: StreamId,
    content: EncodedContent,
    options: PublishOptions,
  ): Promise<{ sent: Promise<PublishedMessage> }> {
    const { outbox, urgent } = await this.#outboxFor(streamId, options)
    return { sent: (options.urgent === undefined ? outbox : urgent).add(content, options) }
  }

  async #outboxFor(streamId: StreamId, options: PublishOptions): Promise<JoinedOutbox> {
    const stream = await requirePermission('publish', streamId, this.#modules)
    if (this.#closing.signal.aborted) throw clientError('CLIENT_CLOSED')
    if (options.signal?.aborted) throw clientError('ABORTED', undefined, { cause: options.signal.reason })
    return this.#outbox(stream, this.#choosePartition(stream, options))
  }

  #choosePartition(stream: StreamInfo, { partition, key, partitionKey = key }: PublishOptions): number {
    const { crypto, random } = this.#modules
    if (partition !== undefined) return checkPartition(partition, stream)
    if (partitionKey !== undefined) return partitionOfKey(partitionKey, stream.partitions, crypto)
    const usual = this.#usualPartitions.get(stream.id)
    if (usual !== undefined && usual < stream.partitions) return usual
    const chosen = anyPartition(stream.partitions, random)
    this.#usualPartitions.set(stream.id, chosen)
    return chosen
  }

  /** The stream part is joined with its first message, and left by `leave` or when the client closes; the chain goes on. */
  #outbox(stream: StreamInfo, partition: number): JoinedOutbox {
    const { node, user, crypto, clock, parts, steps } = this.#modules
    const streamPartId = toStreamPartId(stream.id, partition)
    const known = this.#outboxes.get(streamPartId)
    if (known !== undefined) {
      if (known.leave === undefined) {
        known.leave = parts.join(stream, partition, { fillGaps: false, reads: false })
        known.outbox.waitFor(this.#firstNeighbour(streamPartId))
      }
      return known
    }
    const leave = parts.join(stream, partition, { fillGaps: false, reads: false })
    const ready = this.#firstNeighbour(streamPartId)
    const ofChain = (messageChainId: string, isUrgent: boolean): PartOutbox =>
      new PartOutbox(
        {
          chain: { streamId: stream.id, partition, publisherId: user.userId, messageChainId },
          ...{ ready, isUrgent, maxBehindMs: this.#options.maxBehindMs },
        },
        { node, user, crypto, clock, steps, neighbourCount: (id) => parts.neighbourCount(id) },
      )
    const outbox = ofChain(this.#messageChainId, false)
    const joined = { outbox, urgent: ofChain(urgentChainId(this.#messageChainId), true), leave }
    this.#outboxes.set(streamPartId, joined)
    return joined
  }

  /** Waits for a limited time, and not where nobody else is: the node keeps a message published alone for nodes that join soon. */
  async #firstNeighbour(streamPartId: StreamPartId): Promise<void> {
    const { node, clock, status, parts } = this.#modules
    const { signal, end } = deadline(clock, this.#options.waitForNeighboursMs, this.#closing.signal)
    const beganMs = clock.monotonicMs()
    try {
      await node.waitForNeighbours(streamPartId, { orAlone: true, signal })
    } catch {
      // No neighbour came in time, or the client is closing.
    } finally {
      end()
    }
    if (parts.neighbourCount(streamPartId) === 0 && !this.#closing.signal.aborted) {
      const waitedMs = Math.round(clock.monotonicMs() - beganMs)
      status.emit({ type: 'publishing-alone', streamPartId, waitedMs })
    }
  }
}

function requireOnePartition({ partition, partitionKey }: PublishOptions): void {
  if (partition !== undefined && partitionKey !== undefined)
    throw clientError('INVALID_ARGUMENT', 'a partition and a partition key: give one of them')
}

function encodeWith(
  content: unknown,
  { streamId, headers, key, removes, bytesAre }: PublishOptions & { streamId: StreamId; removes: boolean },
): EncodedContent {
  const encoded = encodeContent(content, headers, key, bytesAre)
  if (key === undefined) return encoded
  const extensions = [{ type: keyTagExtension, bytes: tagOfKey(streamId, key) }]
  return { ...encoded, extensions: removes ? [...extensions, removal] : extensions }
}

/** Alone in its batch, of which all but the content takes less than 1 KiB. Throws MESSAGE_TOO_LARGE. */
function encodeUrgent(
  content: unknown,
  { headers, bytesAre }: PublishOptions,
  extension: Extension,
): EncodedContent {
  const encoded = encodeContent(content, headers, undefined, bytesAre)
  const maxBytes = limits.maxUrgentBatchBytes - 1024
  if (encoded.bytes.length > maxBytes)
    throw clientError('MESSAGE_TOO_LARGE', `${encoded.bytes.length} bytes, at most ${maxBytes} when urgent`)
  return { ...encoded, extensions: [extension] }
}

const removal = { type: removalExtension, bytes: new Uint8Array() }
