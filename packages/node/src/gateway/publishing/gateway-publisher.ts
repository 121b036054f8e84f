import {
  clientError,
  type PublishedMessage,
  type PublishOptions,
  type RelayedBatch,
  type RunnelClient,
} from '@runnel/client'
import { decodeBatch, type StreamId } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import type { GivenContent } from '../../written-content.ts'
import type { GatewayAccount } from '../access/account.ts'
import { takeRate } from '../access/rate.ts'
import type { Caller } from '../callers.ts'
import type { GatewayCounts } from '../counts.ts'
import { gatewayLimits } from '../limits.ts'
import type { PublishedStreams } from './published-streams.ts'

/** One message of a client. */
export interface PublishRequest extends GivenContent {
  readonly streamId: StreamId
  /** Of the content, as it came. */
  readonly bytes: number
  readonly options: Pick<PublishOptions, 'partition' | 'partitionKey' | 'key' | 'headers'>
  /** Takes the value of the key away. */
  readonly isRemoval?: boolean | undefined
}

/** Where a message is, and who has it. */
export interface PublishAnswer {
  /** `partition/publisherId/messageChainId/timestamp-sequenceNumber`: the same everywhere. */
  readonly id: string
  readonly streamId: string
  readonly partition: number
  readonly publisherId: string
  readonly messageChainId: string
  readonly timestamp: number
  readonly sequenceNumber: number
  /** Neighbours it was sent to; with 0, only nodes that join soon get it. */
  readonly neighbours: number
  /** A storage node has it durably; false where that was not waited for. */
  readonly stored: boolean
}

/** Publishes for clients of a gateway what their keys allow. */
export class GatewayPublisher {
  readonly #modules: { readonly counts: GatewayCounts; readonly streams: PublishedStreams }

  constructor(modules: { readonly counts: GatewayCounts; readonly streams: PublishedStreams }) {
    this.#modules = modules
  }

  /** Throws GATEWAY_NOT_ALLOWED. */
  requireAllowed(account: GatewayAccount, streamId: StreamId): void {
    if (!account.mayPublish(streamId)) throw nodeError('GATEWAY_NOT_ALLOWED', `${account.name}: ${streamId}`)
  }

  /** Takes messages of so many bytes each from the rate of the key, all or none. Throws GATEWAY_TOO_LARGE, and what `takeRate` throws. */
  requireRoom(account: GatewayAccount, ...sizes: readonly number[]): void {
    const largest = Math.max(...sizes)
    if (largest > account.maxMessageBytes)
      throw nodeError('GATEWAY_TOO_LARGE', `${largest} bytes, at most ${account.maxMessageBytes}`)
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    takeRate(account, bytes, sizes.length)
  }

  /** Resolves when it was handed to neighbours. Throws what `publish` of the client throws. */
  async publish(client: RunnelClient, request: PublishRequest): Promise<PublishAnswer> {
    const { streamId, content, bytesAre, options, isRemoval = false } = request
    this.#modules.streams.note(client, streamId)
    const published = isRemoval
      ? await client.remove(streamId, options.key ?? '', { partition: options.partition })
      : await client.publish(streamId, content, { ...options, bytesAre })
    this.#modules.counts.published++
    return answerOf(published)
  }

  /**
   * Passes on a batch as it was signed by a client; nothing is signed here. Throws INVALID_ARGUMENT for one of another stream, and what
   * `relay` of the client throws.
   */
  async relay(
    { account, client }: Caller,
    streamId: StreamId,
    bytes: Uint8Array,
    delegation?: Uint8Array,
  ): Promise<RelayedBatch> {
    this.requireAllowed(account, streamId)
    const { chain, messages } = decodeBatch(bytes)
    if (chain.streamId !== streamId)
      throw clientError('INVALID_ARGUMENT', `the batch is of ${chain.streamId}`)
    this.requireRoom(account, ...messages.map(({ content }) => content.length))
    const relayed = await client.relay(bytes, delegation)
    this.#modules.counts.relayed += messages.length
    return relayed
  }

  /** Resolves when a storage node has the message. Throws NO_STORAGE_NODE and NOT_STORED_IN_TIME. */
  async waitUntilStored(
    client: RunnelClient,
    answer: PublishAnswer,
    timeoutMs: number = gatewayLimits.storedTimeoutMs,
  ): Promise<PublishAnswer> {
    await client.waitForStorage(answer, { timeoutMs })
    return { ...answer, stored: true }
  }
}

function answerOf(message: PublishedMessage): PublishAnswer {
  const { streamId, partition, publisherId, messageChainId, timestamp, sequenceNumber, neighbours } = message
  return {
    id: `${partition}/${publisherId}/${messageChainId}/${timestamp}-${sequenceNumber}`,
    ...{ streamId, partition, publisherId, messageChainId, timestamp, sequenceNumber, neighbours },
    stored: false,
  }
}
