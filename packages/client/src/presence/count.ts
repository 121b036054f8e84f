import type { NodeCount, NetworkNode } from '@runnel/network'
import { toStreamPartId, type StreamId } from '@runnel/protocol'
import { throwIfAborted } from '../deadline.ts'
import { clientError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import type { StreamParts } from '../stream-parts.ts'

/** When to stop asking how many are in a stream. */
export interface CountOptions {
  /** Ends the wait for the trackers; throws ABORTED. */
  readonly signal?: AbortSignal | undefined
}

/** How many nodes are in one partition, this one among them. */
export interface PartitionCount {
  readonly partition: number
  /** Nodes whose user may read, whether or not they subscribe. */
  readonly readers: number
  /** Nodes that publish and whose user may not read. */
  readonly feeders: number
}

/**
 * How many nodes are in a stream: processes, not users, and without the guests of hosts. A node in several partitions is counted in each,
 * so `readers` and `feeders` are those of the partition with the most: at least so many nodes are there.
 */
export interface StreamCount {
  readonly readers: number
  readonly feeders: number
  /** The partitions that this client is in, in order. */
  readonly partitions: readonly PartitionCount[]
}

export interface CountModules {
  readonly node: Pick<NetworkNode, 'countNodes'>
  readonly parts: Pick<StreamParts, 'partitionsOf'>
}

const countOptions: OptionNames<CountOptions> = { signal: true }

/** Asks the trackers of the partitions that the client is in. */
export async function countStream(
  streamId: StreamId,
  options: CountOptions,
  { node, parts }: CountModules,
): Promise<StreamCount> {
  checkOptions('count', options, countOptions)
  const { signal } = options
  throwIfAborted(signal)
  const joined = parts.partitionsOf(streamId)
  if (joined.length === 0) throw clientError('STREAM_NOT_JOINED', streamId)
  const partitions = await Promise.all(
    joined.map(async (partition) => ({
      partition,
      ...(await node.countNodes(toStreamPartId(streamId, partition), signal)),
    })),
  ).catch((error: unknown) => {
    throwIfAborted(signal)
    throw error
  })
  const most = (kind: keyof NodeCount) => Math.max(...partitions.map((count) => count[kind]))
  return { readers: most('readers'), feeders: most('feeders'), partitions }
}
