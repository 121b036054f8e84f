import type { NetworkNode } from '@runnel/network'
import {
  decodeBatch,
  decodeDelegation,
  placeOf,
  toStreamPartId,
  type Clock,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
} from '@runnel/protocol'
import { deadline } from '../deadline.ts'
import { clientError, streamNotFound } from '../errors.ts'
import { Visits } from '../latest/visits.ts'
import { checkPartition } from '../publish/partition.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { HistorySource } from '../resend/history-source.ts'
import type { StreamParts } from '../stream-parts.ts'
import { relayLimits } from './limits.ts'

/** A batch that was passed on: the places of its messages, and the number of neighbours to send it to. */
export interface RelayedBatch extends MessageChain {
  readonly messages: readonly MessageRef[]
  readonly neighbours: number
}

export interface BatchRelayModules {
  readonly node: NetworkNode
  readonly cache: RegistryCache
  readonly parts: StreamParts
  readonly clock: Clock
  readonly history: Pick<HistorySource, 'check' | 'closing'>
  /** Older live messages are not taken by others. */
  readonly maxLiveAgeMs: number
}

/** Passes on batches that others signed: checked first as history is, so that whoever brings one is told what is wrong with it. */
export class BatchRelay {
  readonly #modules: BatchRelayModules
  readonly #visits: Visits

  constructor(modules: BatchRelayModules) {
    this.#modules = modules
    this.#visits = new Visits(relayLimits, modules)
    modules.history.closing.addEventListener('abort', () => this.#visits.close(), { once: true })
  }

  /** Throws BATCH_FORGED, NO_PUBLISH_PERMISSION, TIMESTAMP_OUT_OF_BOUNDS, and what `decodeBatch` throws. */
  async relay(batchBytes: Uint8Array, delegation?: Uint8Array): Promise<RelayedBatch> {
    const { node, cache, clock, history } = this.#modules
    const batch = decodeBatch(batchBytes)
    const { streamId, partition } = batch.chain
    const stream = await cache.getStream(streamId)
    if (stream === undefined) throw streamNotFound(streamId)
    const streamPartId = toStreamPartId(streamId, checkPartition(partition, stream))
    if (delegation !== undefined) node.delegations.add(decodeDelegation(delegation))
    await this.#requireGood(batch)
    const leave = this.#visits.enter(stream, partition)
    const { signal, end } = deadline(clock, relayLimits.neighbourMs, history.closing)
    try {
      // Without one, the node keeps it for those that join soon.
      await node.waitForNeighbours(streamPartId, { signal, orAlone: true }).catch(() => {})
      node.relay(batchBytes)
      const neighbours = node.neighboursOf(streamPartId).length
      return { ...batch.chain, messages: batch.messages.map(placeOf), neighbours }
    } finally {
      end()
      leave()
    }
  }

  async #requireGood(batch: MessageBatch): Promise<void> {
    const { clock, history, maxLiveAgeMs } = this.#modules
    const { publisherId, streamId } = batch.chain
    const oldestMs = batch.messages[0]?.timestamp ?? 0
    if (oldestMs < clock.now() - maxLiveAgeMs)
      throw clientError('TIMESTAMP_OUT_OF_BOUNDS', `${new Date(oldestMs).toISOString()} is too long ago`)
    const verdict = await history.check.check(batch)
    if (verdict === 'forged') throw clientError('BATCH_FORGED', publisherId)
    if (verdict !== 'good') throw clientError('NO_PUBLISH_PERMISSION', `${publisherId} on ${streamId}`)
  }
}
