import { predates, type RunnelClient } from '@runnel/client'
import {
  decodeBatch,
  toStreamPartId,
  verifyBatch,
  type Clock,
  type Crypto,
  type MessageBatch,
  type StreamPartId,
} from '@runnel/protocol'

export interface CheckModules {
  readonly client: Pick<RunnelClient, 'permissionsOf' | 'getStream'>
  readonly crypto: Crypto
  readonly clock: Pick<Clock, 'now'>
}

export interface CheckedBatch {
  readonly batch: MessageBatch
  /** Its publisher may not publish any more: it may have signed it since, with an earlier time. */
  readonly isDoubtful: boolean
}

/**
 * A batch as another storage node gave it, if it is of the stream part, signed by its publisher, and the publisher
 * might publish at the time of its messages, which are not older than the stream. Undefined otherwise. Throws what decoding throws, and what a chain throws.
 */
export async function checkBatch(
  bytes: Uint8Array,
  streamPartId: StreamPartId,
  { client, crypto, clock }: CheckModules,
): Promise<CheckedBatch | undefined> {
  const batch = decodeBatch(bytes)
  const { streamId, partition, publisherId } = batch.chain
  if (toStreamPartId(streamId, partition) !== streamPartId) return undefined
  // Checked first, so that nobody can make this node ask the registry about publishers who signed nothing.
  if (!verifyBatch(batch, crypto)) return undefined
  const { publishUntilMs } = await client.permissionsOf(streamId, publisherId)
  const oldestMs = batch.messages[0]?.timestamp ?? 0
  const newestMs = batch.messages.at(-1)?.timestamp ?? Infinity
  if (newestMs >= publishUntilMs || predates(oldestMs, await client.getStream(streamId))) return undefined
  return { batch, isDoubtful: clock.now() >= publishUntilMs }
}
