import type { UndecodableMessage } from '@runnel/client'
import { parseStreamPartId } from '@runnel/protocol'
import { problemOf } from '../http/problem.ts'

/** What a reader is told of messages that cannot be opened or decoded: how many, the place of the last, and why that is. */
export function leftOutFields(
  { streamPartId, publisherId, messageChainId, ref, keyId, error }: UndecodableMessage,
  count: number,
): Readonly<Record<string, unknown>> {
  const { streamId, partition } = parseStreamPartId(streamPartId)
  const { timestamp, sequenceNumber } = ref
  return {
    count,
    last: {
      ...{ streamId, partition, timestamp, sequenceNumber, publisherId, messageChainId },
      ...(keyId === undefined ? {} : { keyId }),
    },
    problem: problemOf(error),
  }
}
