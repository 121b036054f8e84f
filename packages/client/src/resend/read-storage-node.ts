import { parseStreamPartId, type MessageRef, type NodeId, type StreamPartId } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { HistorySource } from './history-source.ts'
import { StorageSource, windowFor } from './storage-source.ts'

/** Part of a stream part; both ends belong to it. */
export interface StoredPart {
  readonly streamPartId: StreamPartId
  readonly from: MessageRef
  readonly to: MessageRef
  /** Only messages of this publisher. */
  readonly publisherId?: NodeId | undefined
  /** Only messages of this chain; needs `publisherId`. */
  readonly messageChainId?: string | undefined
}

/**
 * What one storage node has: batches as they were published, in its order, their signatures unchecked. Throws
 * NO_STORAGE_NODE, RESEND_LINK_LOST, RESEND_TIMEOUT, RESEND_DENIED, RESEND_REFUSED, RESEND_INVALID_ANSWER or ABORTED.
 */
export async function* readStorageNode(
  stream: StreamInfo,
  nodeId: NodeId,
  { streamPartId, from, to, publisherId, messageChainId }: StoredPart,
  signal: AbortSignal,
  { directory, limits, sourceModules }: HistorySource,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { partition } = parseStreamPartId(streamPartId)
  const found = await directory.storageNodes(stream, partition, signal)
  const peer = found.find((candidate) => candidate.nodeId === nodeId)
  if (peer === undefined) throw clientError('NO_STORAGE_NODE', `${nodeId} has no usable address`)
  const request = {
    ...{ streamPartId, publisherId, messageChainId },
    selection: { kind: 'range', from, to },
    windowBytes: windowFor(1, limits),
  } as const
  const source = new StorageSource(request, peer, sourceModules)
  try {
    for await (const { bytes } of source.batches(signal)) yield bytes
  } catch (error) {
    directory.forget(streamPartId)
    throw error
  }
}
