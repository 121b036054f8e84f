import type { NetworkNode } from '@runnel/network'
import { isRemoval, toStreamPartId, type Crypto, type StreamId, type StreamMessage } from '@runnel/protocol'
import { decodeMessage, reportUndecodable, type Decoding } from '../content/decode.ts'
import { tagOfKey } from '../content/message-key.ts'
import { deadline, throwIfAborted } from '../deadline.ts'
import { clientError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'
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
import { Visits } from './visits.ts'

/** Of which key, and how long it may take. */
export interface LastOptions<T = unknown> extends Decoding<T> {
  /** Default: the newest message of all, with a key or without. */
  readonly key?: string | undefined
  /** Where it is. Default: the partition of the key; without a key all partitions, of which the newest counts. */
  readonly partition?: number | undefined
  /** Whom to ask. Default: neighbours, and where they know none storage nodes. */
  readonly from?: 'neighbours' | 'storage' | undefined
  /** Milliseconds after which the newest that is known then is given. Default 5,000. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const lastOptions: OptionNames<LastOptions> = {
  ...{ key: true, partition: true, from: true, timeoutMs: true, signal: true, raw: true, schema: true },
}

export interface LatestValuesModules extends ResendModules {
  readonly node: NetworkNode
  readonly parts: StreamParts
  readonly crypto: Crypto
}

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
      return newest === undefined || isRemoval(newest) ? undefined : await this.#opened(newest, options)
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
    const streamPartId = toStreamPartId(stream.id, partition)
    if (from === 'storage') return undefined
    const { node } = this.#modules
    const known = node.latest(streamPartId, tag)
    if (known !== undefined) return lastIn(known, streamPartId, tag)
    const leave = this.#visits.enter(stream, partition)
    try {
      const { history } = this.#modules
      return await askNeighbours(
        { streamPartId, tag },
        this.#limits,
        { ...this.#modules, check: history.check },
        signal,
      )
    } finally {
      leave()
    }
  }

  /** Rejects with what opening and decoding throws; that is a status, too. */
  async #opened(message: StreamMessage, options: LastOptions): Promise<Message> {
    try {
      const opened = options.raw ? message : await this.#modules.steps.open(message)
      return decodeMessage(opened, options, message)
    } catch (error) {
      throw reportUndecodable(message, error, this.#modules.status).error
    }
  }
}
