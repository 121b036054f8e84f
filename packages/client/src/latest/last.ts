import type { NetworkNode } from '@runnel/network'
import {
  isRemoval,
  isRunnelError,
  toStreamPartId,
  type Crypto,
  type StreamId,
  type StreamMessage,
} from '@runnel/protocol'
import { decodeMessage, reportUndecodable, type Decoding } from '../content/decode.ts'
import { tagOfKey } from '../content/message-key.ts'
import type { UndecodableMessage } from '../content/undecodable-message.ts'
import { anyOf, deadline, throwIfAborted, waited } from '../deadline.ts'
import { clientError } from '../errors.ts'
import { checkOptions, checkTimeout, type OptionNames } from '../options.ts'
import { requirePermission } from '../permission.ts'
import { checkPartition, partitionOfKey } from '../publish/partition.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { ResendModules } from '../resend/resend.ts'
import { choosePartitions } from '../resend/selection.ts'
import type { StreamParts } from '../stream-parts.ts'
import type { Message } from '../subscribe/message.ts'
import { askNeighbours } from './ask-neighbours.ts'
import type { LatestLimits } from './limits.ts'
import { lastIn, newerOf } from './newest.ts'
import { newestStored } from './newest-stored.ts'
import { Visits } from './visits.ts'

/** Which message to find, and how long that may take. */
export interface LastOptions<T = unknown> extends Decoding<T> {
  /** The key. Default: the newest message of all, with or without a key. */
  readonly key?: string | undefined
  /** The partition. Default: the partition of the key; without a key, the newest of all partitions. */
  readonly partition?: number | undefined
  /** Whom to ask. Default: neighbours, and storage nodes if neighbours know none. */
  readonly from?: 'neighbours' | 'storage' | undefined
  /** Milliseconds after which the newest message known by then is returned. Default 5,000. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const lastOptions: OptionNames<LastOptions> = {
  ...{
    key: true,
    partition: true,
    from: true,
    timeoutMs: true,
    signal: true,
    raw: true,
    asBytes: true,
    schema: true,
  },
}

/** Which partitions to read, and how to decode messages. */
export interface TableOptions<T = unknown> extends Decoding<T> {
  /** Default: all partitions the stream has. */
  readonly partitions?: readonly number[] | undefined
  /** Called for messages that are left out because they cannot be opened or decoded; there is a status 'undecodable' too. */
  readonly onUndecodable?: ((message: UndecodableMessage) => void) | undefined
  /**
   * How large the table of a partition may be: bytes of the batches with its values, which may have more messages, and 512 for each batch. A larger
   * one throws TABLE_TOO_LARGE. Default 128 MiB.
   */
  readonly maxBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const tableOptions: OptionNames<TableOptions> = {
  ...{ partitions: true, onUndecodable: true, signal: true, raw: true, asBytes: true, schema: true },
  maxBytes: true,
}

export interface LatestValuesModules extends ResendModules {
  readonly node: NetworkNode
  readonly parts: StreamParts
  readonly crypto: Crypto
}

const lastOne = {
  selection: { kind: 'last', count: 1 },
  publisherId: undefined,
  messageChainId: undefined,
} as const

/** Asks for the newest messages of keys. */
export class LatestValues {
  readonly #limits: LatestLimits
  readonly #modules: LatestValuesModules
  readonly #visits: Visits

  constructor(limits: LatestLimits, modules: LatestValuesModules) {
    this.#limits = limits
    this.#modules = modules
    this.#visits = new Visits(limits, modules)
    modules.history.closing.addEventListener('abort', () => this.#visits.close(), { once: true })
  }

  async last(streamId: StreamId, options: LastOptions): Promise<Message | undefined> {
    checkOptions('last', options, lastOptions)
    const { history, clock } = this.#modules
    const { key, signal: given, timeoutMs = this.#limits.timeoutMs } = options
    checkTimeout(timeoutMs)
    throwIfAborted(given)
    const tag = key === undefined ? undefined : tagOfKey(streamId, key)
    const stream = await requirePermission('subscribe', streamId, this.#modules)
    if (history.closing.aborted) throw clientError('CLIENT_CLOSED')
    const { signal, end } = deadline(clock, timeoutMs, given, history.closing)
    try {
      const found = await Promise.all(
        this.#partitionsOf(stream, options).map((partition) =>
          this.#lastOf(stream, partition, { tag, from: options.from, signal }),
        ),
      )
      throwIfAborted(given)
      const newest = found.reduce(newerOf, undefined)
      if (newest === undefined || isRemoval(newest)) return undefined
      const result = await this.#tryOpen(newest, options, anyOf(given, history.closing))
      if ('error' in result) throw result.error
      return result
    } finally {
      end()
    }
  }

  #partitionsOf(stream: StreamInfo, { key, partition }: LastOptions): readonly number[] {
    if (partition !== undefined) return [checkPartition(partition, stream)]
    if (key === undefined) return choosePartitions(stream, undefined)
    return [partitionOfKey(key, stream.partitions, this.#modules.crypto)]
  }

  async #lastOf(
    stream: StreamInfo,
    partition: number,
    { tag, from, signal }: Pick<LastOptions, 'from'> & { tag: Uint8Array | undefined; signal: AbortSignal },
  ): Promise<StreamMessage | undefined> {
    if (from === 'storage') return this.#lastStored(stream, partition, tag, signal)
    const streamPartId = toStreamPartId(stream.id, partition)
    const { node, history, clock } = this.#modules
    const known = node.latest(streamPartId, tag)
    if (known !== undefined) return lastIn(known, streamPartId, tag)
    const modules = { ...this.#modules, check: history.check }
    const isPatient = from === 'neighbours'
    const patience = isPatient ? { signal, end: () => {} } : deadline(clock, this.#limits.patienceMs, signal)
    const leave = this.#visits.enter(stream, partition)
    try {
      const told = await askNeighbours({ streamPartId, tag }, this.#limits, modules, patience.signal)
      if (told !== undefined || isPatient) return told
    } finally {
      patience.end()
      leave()
    }
    return this.#lastStored(stream, partition, tag, signal).catch((error: unknown) => {
      // Neighbours know none, and there is nobody else to ask.
      if (isRunnelError(error, 'NO_STORAGE_NODE')) return undefined
      throw error
    })
  }

  /** Rejects with NO_STORAGE_NODE, and as `newestStored` and `resend` do; when the time is over it is undefined. */
  async #lastStored(
    stream: StreamInfo,
    partition: number,
    tag: Uint8Array | undefined,
    signal: AbortSignal,
  ): Promise<StreamMessage | undefined> {
    const { history } = this.#modules
    try {
      const [plan] = await history.plan(stream, [partition], signal)
      if (plan === undefined) return undefined
      if (tag !== undefined) {
        const modules = { ...this.#modules, ...history.sourceModules, check: history.check }
        const request = { streamPartId: plan.streamPartId, tag }
        return (await newestStored(request, plan, this.#limits, modules, signal)).at(-1)
      }
      let newest: StreamMessage | undefined
      for await (const run of history.read([plan], lastOne, { signal, onGap: () => {} }))
        newest = run.reduce(newerOf, newest)
      return newest
    } catch (error) {
      if (isRunnelError(error, 'ABORTED') && signal.aborted) return undefined
      throw error
    }
  }

  /** The newest message of each key, in the order of their times; without those that were removed. */
  async *table(streamId: StreamId, options: TableOptions): AsyncGenerator<Message, void, undefined> {
    checkOptions('table', options, tableOptions)
    const { maxBytes: maxTableBytes = this.#limits.maxTableBytes } = options
    if (!(typeof maxTableBytes === 'number' && maxTableBytes > 0))
      throw clientError('INVALID_ARGUMENT', 'maxBytes is a number above 0')
    const limits = { ...this.#limits, maxTableBytes }
    const { history } = this.#modules
    const stream = await requirePermission('subscribe', streamId, this.#modules)
    if (history.closing.aborted) throw clientError('CLIENT_CLOSED')
    const plans = await history.plan(stream, choosePartitions(stream, options.partitions), options.signal)
    const signal = anyOf(options.signal, history.closing)
    const modules = { ...this.#modules, ...history.sourceModules, check: history.check }
    for (const plan of plans) {
      const request = { streamPartId: plan.streamPartId, tag: undefined }
      const newest = await newestStored(request, plan, limits, modules, signal)
      for (const message of newest) {
        if (isRemoval(message)) continue
        const result = await this.#tryOpen(message, options, signal)
        if ('error' in result) options.onUndecodable?.(result)
        else yield result
      }
    }
  }

  /** What cannot be opened or decoded is a status, too. Throws ABORTED. */
  async #tryOpen(
    message: StreamMessage,
    decoding: Decoding,
    signal: AbortSignal,
  ): Promise<Message | UndecodableMessage> {
    throwIfAborted(signal)
    try {
      const opening = decoding.raw ? message : this.#modules.steps.open(message)
      const opened = opening instanceof Promise ? await waited(opening, signal) : opening
      return decodeMessage(opened, decoding, message)
    } catch (error) {
      throwIfAborted(signal)
      return reportUndecodable(message, error, this.#modules.status)
    }
  }
}
