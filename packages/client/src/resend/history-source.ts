import type { Gap, NetworkNode, PublisherPolicy } from '@runnel/network'
import {
  toStreamPartId,
  type Clock,
  type Crypto,
  type DelegationHistory,
  type Random,
  type StreamMessage,
  type VerificationPool,
} from '@runnel/protocol'
import { anyOf, throwIfAborted } from '../deadline.ts'
import { clientError } from '../errors.ts'
import type { ActingUser } from '../identity/acting-user.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { StatusHub } from '../status.ts'
import type { StreamParts } from '../stream-parts.ts'
import { toMessageEquivocation } from '../subscribe/equivocation.ts'
import { AccessTokens } from './access-tokens.ts'
import { BatchCheck } from './batch-check.ts'
import { DirectRequests } from './direct-requests.ts'
import { HistoryReader } from './history-reader.ts'
import type { ResendLimits } from './limits.ts'
import type { PartPlan } from './part-sources.ts'
import type { History } from './selection.ts'
import { StorageDirectory } from './storage-directory.ts'
import type { SourceModules } from './storage-source.ts'

export interface HistorySourceModules {
  readonly node: NetworkNode
  readonly cache: RegistryCache
  readonly parts: StreamParts
  readonly policy: PublisherPolicy
  readonly endings: DelegationHistory
  readonly user: ActingUser
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly status: StatusHub
  /** Where signatures are checked ahead. Default: nowhere. */
  readonly verification?: VerificationPool | undefined
}

export type OnGap = (gap: Gap) => void

/** The base of all that a client does with storage nodes: finding them, requests to them, and checked history. */
export class HistorySource {
  readonly limits: ResendLimits
  readonly directory: StorageDirectory
  readonly check: BatchCheck
  /** For requests to single storage nodes. */
  readonly sourceModules: SourceModules
  readonly #modules: HistorySourceModules
  readonly #closing = new AbortController()
  readonly #counters = {
    resentMessages: 0,
    resendSourcesFailed: 0,
    resendGaps: 0,
    resendDenied: 0,
    resendEquivocations: 0,
  }

  constructor(limits: ResendLimits, modules: HistorySourceModules) {
    const { node, user, crypto, clock, policy, endings, verification } = modules
    const { delegations } = node
    this.limits = limits
    this.#modules = modules
    this.directory = new StorageDirectory(limits, modules)
    this.check = new BatchCheck({ crypto, clock, policy, endings, delegations, verification })
    this.sourceModules = {
      requests: new DirectRequests({ node }),
      tokens: new AccessTokens(
        { lifetimeMs: limits.tokenLifetimeMs, nodeId: node.nodeId },
        { user, crypto, clock },
      ),
      clock,
      limits,
    }
  }

  /** Aborted when the client closes. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Finds the storage nodes of every partition. Throws NO_STORAGE_NODE, ABORTED, or what the registry throws. */
  async plan(
    stream: StreamInfo,
    partitions: readonly number[],
    signal?: AbortSignal,
  ): Promise<readonly PartPlan[]> {
    const ending = this.#untilClosed(signal)
    const plans = await Promise.all(
      partitions.map(async (partition): Promise<PartPlan> => {
        const found = await this.directory.storageNodes(stream, partition, ending)
        return { streamPartId: toStreamPartId(stream.id, partition), storageNodes: this.#shuffled(found) }
      }),
    )
    throwIfAborted(ending)
    if (plans.some(({ storageNodes }) => storageNodes.length === 0)) {
      throw clientError('NO_STORAGE_NODE', stream.id)
    }
    return plans
  }

  /**
   * Messages in runs, each what is available at once. Throws RESEND_FAILED, RESEND_DENIED, ABORTED, or what the registry throws.
   */
  read(
    parts: readonly PartPlan[],
    history: Omit<History, 'partitions'>,
    options: { readonly signal?: AbortSignal | undefined; readonly onGap: OnGap },
  ): AsyncGenerator<readonly StreamMessage[], void, undefined> {
    const { status } = this.#modules
    const signatures = this.check.signaturesAhead()
    return new HistoryReader(
      { parts, ...history },
      {
        ...this.sourceModules,
        ...{ check: this.check, signatures },
        checkAhead: signatures && ((batch, signal) => this.check.ahead(batch, signatures, signal)),
        events: {
          given: (count) => void (this.#counters.resentMessages += count),
          sourceFailed: (streamPartId, storageNodeId, error) => {
            this.#counters.resendSourcesFailed++
            this.directory.forget(streamPartId)
            status.emit({ type: 'storage-failed', streamPartId, storageNodeId, error })
          },
          gap: (gap) => {
            this.#counters.resendGaps++
            options.onGap(gap)
          },
          equivocation: (contradiction) => {
            this.#counters.resendEquivocations++
            const { streamId, partition } = contradiction.winner.chain
            const streamPartId = toStreamPartId(streamId, partition)
            const found = { ...contradiction, streamPartId, delivered: 'winner' as const }
            status.emit({ type: 'equivocation', ...toMessageEquivocation(found) })
          },
          denied: (chain, count) => {
            this.#counters.resendDenied += count
            const streamPartId = toStreamPartId(chain.streamId, chain.partition)
            status.emit({
              type: 'history-denied',
              streamPartId,
              publisherId: chain.publisherId,
              messages: count,
            })
          },
        },
      },
    ).read(this.#untilClosed(options.signal))
  }

  counters(): Readonly<Record<string, number>> {
    return { ...this.#counters }
  }

  /** Ends all that is being read, with ABORTED. */
  close(): void {
    this.#closing.abort()
    this.sourceModules.requests.close()
  }

  #untilClosed(signal: AbortSignal | undefined): AbortSignal {
    return anyOf(signal, this.#closing.signal)
  }

  /** So that not all clients ask the same one first. */
  #shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, key: this.#modules.random.next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item)
  }
}
